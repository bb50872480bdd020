import { snapshot } from './data.js';
import { createEmitter } from './emitter.js';
import type { TrackOptions, Tracker, TrackerOptions } from './options.js';
import { type Page, createPage } from './page.js';
import { createChannel } from './queue/channel.js';
import { isDenied, UNDECIDED } from './queue/decisions.js';
import { takeIn } from './queue/intake.js';
import { connect } from './queue/ports.js';
import { decide, identify } from './queue/protocol.js';
import { pump } from './queue/pump.js';
import { Life } from './queue/state.js';
import { eraseAll, eraseStored, openLocal, storedDecisions } from './queue/stores.js';
import { checkedOptions, newId, prefixOf, readOptions } from './settings.js';
import { type Tab, refusalOf } from './tab.js';
import type { AnyEvents, EventData, EventMap } from './types.js';
import { sleep, within } from './wait.js';

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
export const createTab = (given: TrackerOptions): Tab => {
  const options = checkedOptions(given);
  const prefix = prefixOf(options);
  // Complete once this function returns; nothing below runs before.
  const tab = {
    ...options,
    ...createEmitter(),
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    email: options.email || undefined,
    // No key leaves the page for a proxy.
    ...(options.proxy && { publicKey: undefined }),
    maxAgeMs: options.maxAge ?? 864e5,
    // What a proxy of ours takes in one request.
    maxBatch: options.proxy ? 20 : 1,
    isDurable: options.storage !== 'memory',
    isLasting: false,
    document: globalThis.document,
    prefix,
    owner: newId(prefix),
    entries: [],
    origin: {},
    local: {},
    storedLength: 0,
    life: Life.Pending,
    isStarted: false,
    isConsentKnown: false,
    isWithinSite: false,
    decisions: UNDECIDED,
    identifiedAt: 0,
    until: 0,
    counts: {},
    warnings: new Set(),
    failures: 0,
    unanswered: 0,
    // Browsers allow 64 KiB of keepalive requests in flight, shared by the whole page.
    room: 6e4,
  } as unknown as Tab;
  Object.assign(tab, connect(tab), { channel: createChannel(tab) });
  if (tab.document) {
    openLocal(tab);
  }
  setContact(tab);
  return tab;
};

/** The contact of the options is newer than all that was erased before. */
export const setContact = (tab: Tab): void => {
  tab.decisions = storedDecisions(tab);
  tab.identifiedAt = Math.max(Date.now(), tab.decisions.erasedAt + 1);
};

/** What users call. */
export const apiOf = (tab: Tab, page: Page) => {
  const begin = (consent = tab.consent): void => {
    tab.consent = consent;
    const reason = refusalOf(tab);
    if (reason === 'server') {
      return;
    }
    if (reason) {
      void eraseStored(tab);
    }
    // No visitor may ever see a page that is rendered in advance.
    else if ((tab.document as { prerendering?: boolean }).prerendering) {
      // It happens once.
      document.addEventListener('prerenderingchange', () => begin());
    } else if (consent !== 'pending') {
      page.start();
    }
  };
  const decideFor = async (decision: 'erased' | 'denied'): Promise<void> => {
    if (tab.document) {
      await eraseAll(tab, decision);
    }
  };
  begin();
  return {
    on: tab.on,
    dispose: page.dispose,
    get pending() {
      return tab.entries.length;
    },
    consent: {
      grant: () => {
        grant(tab);
        begin('granted');
      },
      deny: () => decideFor('denied'),
    },
    identify: (email: string) => identify(tab, email || undefined),
    track: (event: string, given?: object, own?: TrackOptions) => {
      const { email } = readOptions(own, { email: 'string' });
      // The event map allows no other, and `snapshot` makes it plain.
      const data = given as EventData | undefined;
      const id = newId(tab.prefix);
      const tracked = takeIn(tab, { id, event, email: email || tab.email, data });
      // What one task tracks goes in one batch.
      queueMicrotask(() => pump(tab));
      return tracked;
    },
    flush: async (own?: { readonly timeout?: number }) => {
      const { timeout = 5000 } = readOptions(own, { timeout: 'number' });
      page.retryNow();
      return emptied(tab, timeout);
    },
    reset: () => {
      tab.email = undefined;
      return decideFor('erased');
    },
    stats: () => snapshot(tab.counts),
    pause: () => {
      tab.isPaused = true;
    },
    resume: () => resume(tab),
  };
};

const resume = (tab: Tab): void => {
  tab.isPaused = false;
  pump(tab);
};

/** Undoes a denial, in all tabs and for later visits. */
const grant = (tab: Tab): void => {
  if (!tab.document) {
    return;
  }
  const wasDenied = isDenied(tab.decisions);
  decide(tab, 'granted');
  if (tab.isDurable || wasDenied) {
    tab.saveDecisions(tab.decisions);
  }
  tab.channel.tell(tab.decisions);
};

/** Waits until nothing is left to send, or for this time; was it emptied? */
const emptied = async (tab: Tab, timeout: number): Promise<boolean> => {
  let isOver = false;
  const empty = async () => {
    while (tab.entries[0] && !isOver) {
      await sleep(50);
    }
  };
  await within(timeout, empty());
  isOver = true;
  return !tab.entries[0];
};
