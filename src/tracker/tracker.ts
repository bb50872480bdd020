import { createEmitter } from './emitter.js';
import { take } from './queue/intake.js';
import type { TrackOptions, Tracker, TrackerOptions } from './options.js';
import { type Page, createPage } from './page.js';
import { newId } from './queue/record.js';
import { bury, open, readForeign } from './queue/store.js';
import { type Tab, end, refusalOf } from './tab.js';
import type { AnyEvents, DropReason, EventData, EventMap } from './types.js';
import { sleep } from './send/wait.js';

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
  if (options.publicKey?.startsWith('pk_') === false) {
    throw new TypeError('Use a pk_ key');
  }
  const tab: Tab = {
    ...options,
    ...createEmitter(),
    owner: newId(),
    records: [],
    ends: new WeakMap(),
    local: {},
  };
  return apiOf(tab, createPage(tab));
}

const apiOf = (tab: Tab, [drain, hurry, start, dispose]: Page) => {
  const erase = async (reason: DropReason) => {
    for (const record of tab.records) {
      end(tab, record, reason);
    }
    await open(tab);
    // Other tabs find the tombstones before they send.
    for (const record of await readForeign(tab)) {
      if (record.event) {
        bury(tab, record);
      }
    }
  };
  const begin = async (consent = tab.consent) => {
    tab.consent = consent;
    const reason = refusalOf(tab);
    if (reason) {
      await erase(reason);
    } else if (consent !== 'pending') {
      await start();
    }
  };
  void begin();
  return {
    on: tab.on,
    dispose,
    get pending() {
      return tab.records.length;
    },
    consent: { grant: () => void begin('granted'), deny: () => void begin('denied') },
    identify: (email: string) => {
      tab.email = email;
    },
    track: (event: string, data?: EventData, { email = tab.email }: TrackOptions = {}) => {
      void drain();
      return take(tab, { id: newId(), event, email, data });
    },
    flush: async ({ timeout = 5000 } = {}) => {
      await Promise.race([begin().then(hurry), sleep(timeout)]);
      return !tab.records[0];
    },
    reset: () => {
      tab.email = undefined;
      void erase('reset');
    },
    pause: () => {
      tab.isPaused = true;
    },
    resume: () => {
      tab.isPaused = false;
    },
  };
};
