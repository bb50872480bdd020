import { snapshot } from './data.js';
import { createEmitter } from './emitter.js';
import type { TrackOptions, Tracker, TrackerOptions } from './options.js';
import { type Page, createPage } from './page.js';
import { connect, pump } from './queue/connect.js';
import { takeIn } from './queue/intake.js';
import { identify } from './queue/protocol.js';
import { Life } from './queue/state.js';
import { eraseAll } from './queue/stores.js';
import { sleep } from './send/wait.js';
import { checkOptions, newId, prefixOf } from './settings.js';
import { type Tab, refusalOf } from './tab.js';
import type { AnyEvents, DropReason, EventData, EventMap } from './types.js';

/**
 * Creates the event tracker of a page. On a server it does nothing, quietly.
 *
 * @example
 * const tracker = createTracker<{ signed_up: { plan: string } }>({ publicKey: 'pk_…', baseUrl });
 * tracker.identify('ann@example.com');
 * tracker.track('signed_up', { plan: 'pro' });
 */
export function createTracker<Events extends EventMap<Events> = AnyEvents>(
  options: TrackerOptions,
): Tracker<Events> {
  const tab = createTab(options);
  return apiOf(tab, createPage(tab));
}

/** The state of one tracker, before its page starts. */
export const createTab = (options: TrackerOptions): Tab => {
  checkOptions(options);
  const prefix = prefixOf(options);
  return connect({
    ...options,
    ...createEmitter(),
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    email: options.email || undefined,
    // No key leaves the page for a proxy.
    ...(options.proxy && { publicKey: undefined }),
    maxAgeMs: options.maxAge ?? 864e5,
    document: globalThis.document,
    prefix,
    owner: newId(prefix),
    entries: [],
    local: {},
    life: Life.Held,
    until: 0,
    counts: {},
    failures: 0,
    misses: 0,
    // Browsers allow 64 KiB of keepalive requests in flight, shared by the whole page.
    room: 6e4,
    grantedAt: 0,
    erasedAt: 0,
  });
};

/** What users call. */
export const apiOf = (tab: Tab, page: Page) => {
  const eraseFor = async (reason: DropReason, isAsked?: boolean) => {
    if (reason !== 'server') {
      await eraseAll(tab, reason, isAsked);
    }
  };
  const begin = async (consent = tab.consent, isAsked?: boolean): Promise<void> => {
    tab.consent = consent;
    const reason = refusalOf(tab);
    if (reason) {
      await eraseFor(reason, isAsked);
    }
    // Nobody may ever see a page that is rendered in advance.
    else if ((tab.document as { prerendering?: boolean }).prerendering) {
      // It happens once.
      document.addEventListener('prerenderingchange', () => void begin());
    } else if (consent !== 'pending') {
      page.start();
    }
  };
  void begin();
  return {
    on: tab.on,
    dispose: page.dispose,
    get pending() {
      return tab.entries.length;
    },
    consent: { grant: () => void begin('granted'), deny: () => begin('denied', true) },
    identify: (email: string) => identify(tab, email || undefined),
    track: (event: string, data?: EventData, { email }: TrackOptions = {}) => {
      const id = newId(tab.prefix);
      const tracked = takeIn(tab, { id, event, email: email || tab.email, data });
      pump(tab);
      return tracked;
    },
    flush: async ({ timeout = 5000 } = {}) => {
      page.hurry();
      for (let left = timeout; tab.entries[0] && left > 0; left -= 50) {
        await sleep(50);
      }
      return !tab.entries[0];
    },
    reset: () => {
      tab.email = undefined;
      return eraseFor(refusalOf(tab) ?? 'reset', true);
    },
    stats: () => snapshot(tab.counts),
    pause: () => {
      tab.isPaused = true;
    },
    resume: () => {
      tab.isPaused = false;
      pump(tab);
    },
  };
};
