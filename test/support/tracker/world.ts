import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Tracker, TrackerOptions } from '../../../src/tracker/index.js';
import { type App, startApp } from './app.js';
import { type Engine, type Profile, until } from './browser.js';
import { type Service, startService } from './service.js';

/** What the pages of the app define. */
declare global {
  // Globals of the page, which `evaluate` runs in.
  var tracker: Tracker;
  var notices: Notice[];
  var trackMany: (from: number, to: number, extra?: Record<string, string>) => void;
  interface Window {
    start(options: Partial<TrackerOptions>): void;
    wasRestored?: boolean;
  }
}

/** What a tracker told, as the page noted it. */
interface Notice {
  readonly name: string;
  readonly reason?: string;
  readonly delayMs?: number;
  readonly [detail: string]: unknown;
}

/** What the keys of the app's trackers begin with. */
export const PREFIX = 'postreel:app:';

export type Delivery = 'no-duplicates' | 'no-loss';

export interface Figures {
  readonly sent: number;
  readonly delivered: number;
  readonly duplicates: number;
}

/** The app and the service, on origins of their own, in a browser that others may share. */
export interface World {
  readonly app: App;
  readonly service: Service;
  readonly profile: Profile;
  /** What every tracker promises that does not ask for something else. */
  readonly delivery: Delivery;
  readonly engine: Engine;
  /** Opens the app with a tracker; `path` may name another page or host. */
  readonly open: (options?: Partial<TrackerOptions>, path?: string) => Promise<Page>;
  /** Opens a page without a tracker: a path of the app, or a whole address. */
  readonly visit: (path: string) => Promise<Page>;
  /**
   * Waits until a page with a tracker has taken over all that others left, an event planted for
   * this purpose included, and until nothing is stored that could still be sent.
   */
  readonly settled: (page: Page) => Promise<void>;
  /** The events in IndexedDB that are not done. */
  readonly stored: (page: Page) => Promise<number>;
  /** Counts what arrived by the number in each event, prints it and returns it. */
  readonly figures: (name: string, sent: number) => Figures;
  readonly close: () => Promise<void>;
}

/** A site of its own for one run of one case. */
export async function createWorld(
  engine: Engine,
  profile: Profile,
  delivery: Delivery = 'no-duplicates',
): Promise<World> {
  const service = await startService();
  const app = await startApp(service.url);
  return {
    engine,
    app,
    service,
    profile,
    delivery,
    open: async (options = {}, path = app.url + '/') => {
      const page = await profile.context.newPage();
      await page.goto(`${path}?${encodeURIComponent(JSON.stringify({ delivery, ...options }))}`);
      return page;
    },
    visit: async (path) => {
      const page = await profile.context.newPage();
      await page.goto(new URL(path, app.url).href);
      return page;
    },
    settled: async (page) => {
      const marker = `${PREFIX}0${Math.random()}`;
      await page.evaluate(plantMarker, marker);
      await until(() => service.accepted.some(({ data }) => data?.marker === marker));
      await until(async () => (await page.evaluate(countInLocalStorage)) === 0);
      await until(async () => (await page.evaluate(countInDatabase)) === 0);
    },
    stored: (page) => page.evaluate(countInDatabase),
    figures: (name, sent) => {
      // A planted event that came twice is a duplicate as well.
      const keys = service.accepted.map(({ data }) =>
        JSON.stringify([data?.tab, data?.n, data?.marker]),
      );
      const planted = new Set(service.accepted.flatMap(({ data }) => data?.marker ?? []));
      const distinct = new Set(keys).size;
      const delivered = distinct - planted.size;
      const figures = { sent, delivered, duplicates: keys.length - distinct };
      console.log(`[${engine}, ${delivery}] ${name}: ${JSON.stringify(figures)}`);
      return figures;
    },
    close: async () => {
      const hosts = [app.url, app.url.replace('127.0.0.1', 'insecure.test')];
      const isOurs = (page: Page) => hosts.some((host) => page.url().startsWith(host));
      await Promise.all(
        profile.context
          .pages()
          .filter(isOurs)
          .map((page) => page.close()),
      );
      await app.close();
      await service.close();
    },
  };
}

/** Everything arrived, and nothing twice. */
export const expectExactly = ({ sent, delivered, duplicates }: Figures): void => {
  expect({ delivered, duplicates }).toEqual({ delivered: sent, duplicates: 0 });
};

/** `no-loss` may repeat what it cannot know to have arrived; it may not lose anything. */
export const expectAsPromised = (delivery: Delivery, figures: Figures): void => {
  if (delivery === 'no-duplicates') {
    expectExactly(figures);
  } else {
    expect(figures.delivered).toBe(figures.sent);
  }
};

/** Runs in the page: an event of a tab that is gone, which some tab must find. */
function plantMarker(marker: string): void {
  localStorage[marker] = JSON.stringify({
    id: marker,
    // Without locks only age tells that its tab is gone.
    at: Date.now() - (isSecureContext ? 0 : 100_000),
    version: 100,
    owner: 'gone',
    state: 0,
    event: 'marker',
    email: 'ann@example.com',
    data: { marker },
  });
  dispatchEvent(new Event('focus'));
}

/** Runs in the page: what localStorage holds of ours. */
const countInLocalStorage = (): number =>
  Object.keys(localStorage).filter((key) => /^postreel:app:./.test(key)).length;

/** Runs in the page: the events in IndexedDB, without tombstones. */
function countInDatabase(): Promise<number> {
  return new Promise((resolve) => {
    const request = indexedDB.open('postreel:app:');
    request.onsuccess = () => {
      const database = request.result;
      if (!database.objectStoreNames.contains('postreel:app:')) {
        database.close();
        resolve(-1);
        return;
      }
      const all = database.transaction('postreel:app:').objectStore('postreel:app:').getAll();
      all.onsuccess = () => {
        database.close();
        resolve((all.result as { event?: string }[]).filter(({ event }) => event).length);
      };
    };
  });
}
