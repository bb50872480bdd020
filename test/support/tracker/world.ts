import { expect } from 'vitest';
import type { Tracker, TrackerOptions } from 'postreel/tracker';
import { type App, startApp } from './app.js';
import { type Browser, type Tab, until } from './browser.js';
import { type Service, startService } from './service.js';

/** The globals that the pages of the app define. */
declare global {
  // Globals of the page in which `evaluate` runs its function.
  var tracker: Tracker;
  var notices: Notice[];
  /** The exports of the recipe for consent, in its page. */
  var recipe: { tracker: Tracker; decide: (answer: 'granted' | 'denied') => void };
  /** A page without a tracker on another site. */
  var otherSite: string;
  var trackMany: (from: number, to: number, extra?: Record<string, string>) => void;
  interface Window {
    start(options: Partial<TrackerOptions>): void;
    wasRestored?: boolean;
    popup?: Window | null;
    /** Ends a wait that a case has started. */
    endWait?: () => void;
    setTimeout(code: string, delayMs?: number): number;
  }
}

/** The options in the query of an app's page. */
export interface PageOptions extends Partial<TrackerOptions> {
  /** Code that runs before the tracker starts, and code that runs right after. */
  readonly before?: string;
  readonly after?: string;
  /** Speeds up the clock of the page by this factor. */
  readonly speed?: number;
}

/** A tracker that sends nothing before its page ends. */
export const UNSENT: PageOptions = { limit: { perSecond: 1, burst: 0 } };

/** The source of a function, called in a page. */
export const code = (work: () => void): string => `(${work.toString()})()`;

/** A notice of a tracker, as the page recorded it. */
export interface Notice {
  readonly name: string;
  readonly reason?: string;
  readonly delayMs?: number;
  readonly [detail: string]: unknown;
}

/** The prefix of the keys of the app's trackers. */
export const PREFIX = 'postreel:app:';

export type Delivery = 'no-duplicates' | 'no-loss';

export interface Figures {
  readonly sent: number;
  readonly delivered: number;
  readonly duplicates: number;
}

/** The app and the service, on separate origins, in a browser that others may share. */
export interface World {
  readonly app: App;
  readonly service: Service;
  readonly browser: Browser;
  /** The default `delivery` of every tracker. */
  readonly delivery: Delivery;
  /** Opens the app with a tracker; `path` may name another page or host. */
  readonly open: (options?: PageOptions, path?: string) => Promise<Tab>;
  /** The address of the app with a tracker. */
  readonly address: (options: PageOptions, path?: string) => string;
  /** Opens a page without a tracker: a path of the app, or a whole address. */
  readonly visit: (path: string) => Promise<Tab>;
  /**
   * Waits until a page with a tracker has taken over all events of other pages, including one
   * planted for this purpose, and until no sendable event is stored.
   */
  readonly settled: (page: Tab) => Promise<void>;
  /** The number of events in localStorage, of all tabs. */
  readonly stored: (page: Tab) => Promise<number>;
  /** Counts the arrived events by the number in each event, records the counts and returns them. */
  readonly figures: (name: string, sent: number) => Figures;
  readonly close: () => Promise<void>;
}

/** Creates a separate site for one run of one case. */
export async function createWorld(
  browser: Browser,
  delivery: Delivery,
  note: (figures: Figures, name: string) => void = () => undefined,
): Promise<World> {
  const service = await startService();
  const app = await startApp(service.url);
  const opened: Tab[] = [];
  const address = (options: PageOptions, path = '/') =>
    `${new URL(path, app.url).href}?${encodeURIComponent(JSON.stringify({ delivery, ...options }))}`;
  const visit = async (path: string) => {
    const page = await browser.newTab();
    opened.push(page);
    await page.goto(new URL(path, app.url).href);
    return page;
  };
  return {
    app,
    service,
    browser,
    delivery,
    address,
    open: (options = {}, path = '/') => visit(address(options, path)),
    visit,
    settled: async (page) => {
      const marker = `${PREFIX}0${Math.random()}`;
      await page.evaluate(plantMarker, marker);
      await until(() => service.accepted.some(({ data }) => data?.marker === marker));
      await until(async () => (await page.evaluate(countStored)) === 0);
    },
    stored: (page) => page.evaluate(countStored),
    figures: (name, sent) => {
      // A planted event that came twice is a duplicate as well.
      const keys = service.accepted.map(({ data }) =>
        JSON.stringify([data?.tab, data?.n, data?.marker]),
      );
      const planted = new Set(service.accepted.flatMap(({ data }) => data?.marker ?? []));
      const distinct = new Set(keys).size;
      const delivered = distinct - planted.size;
      const figures = { sent, delivered, duplicates: keys.length - distinct };
      note(figures, name);
      if (figures.duplicates && delivery === 'no-duplicates') {
        const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
        console.log(`[${browser.engine}] ${name}: repeated ${twice.join()} of ${keys.join()}`);
      }
      return figures;
    },
    close: async () => {
      // Tabs that a case left open, or that died with their browser.
      await Promise.all(opened.map((page) => page.close().catch(() => undefined)));
      await app.close();
      await service.close();
    },
  };
}

/** Every event arrived, and none twice. */
export const expectExactly = ({ sent, delivered, duplicates }: Figures): void => {
  expect({ delivered, duplicates }).toEqual({ delivered: sent, duplicates: 0 });
};

/** `no-loss` may repeat an event whose arrival it cannot know; it may not lose any. */
export const expectAsPromised = (delivery: Delivery, figures: Figures): void => {
  if (delivery === 'no-duplicates') {
    expectExactly(figures);
  } else {
    expect(figures.delivered).toBe(figures.sent);
  }
};

/** Runs in the page: plants the event of a page that was left, which some tab must find. */
function plantMarker(marker: string): void {
  localStorage[marker] = JSON.stringify({
    id: marker,
    at: Date.now(),
    owner: '',
    event: 'marker',
    email: 'ann@example.com',
    data: { marker },
  });
  dispatchEvent(new Event('focus'));
}

/** Runs in the page: counts the events in localStorage. The visitor's decision is not an event. */
const countStored = (): number =>
  Object.keys(localStorage).filter((key) => /^postreel:app:(?!consent$)./.test(key)).length;
