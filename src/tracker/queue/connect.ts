import { bodyOf, request } from '../send/request.js';
import type { Tab } from '../tab.js';
import { answered } from './answers.js';
import { claimed, tick } from './protocol.js';
import { Life, Phase, type Ports } from './state.js';
import { bury, put, putIfSeen, read, write } from './stores.js';

/** Connects the queue of a tab with the browser. */
export const connect = (state: Omit<Tab, Exclude<keyof Ports, 'emit'>>): Tab => {
  // Complete once this function returns; nothing below runs before.
  const tab = state as Tab;
  const { perSecond = 5, burst = 20 } = tab.limit ?? {};
  const holdKey = tab.prefix.slice(0, -1);
  let slots = burst;
  return Object.assign(tab, {
    now: () => Date.now(),
    isOnline: () => navigator.onLine,
    hasSlot: () => slots > 0,
    copyOf: (id: string) => read(tab, id),
    sizeOf: (record) => bodyOf(tab, record).length,
    sharedHold: () => Number(tab.local[holdKey]) || 0,
    hold: (until) => write(tab, holdKey, until),
    // What there is no room for is not stored at all: at the end of the page nothing could tell
    // that it is still ours.
    note: (entry) => {
      if (write(tab, entry.record.id, entry.record)) {
        entry.isStored = true;
      }
    },
    put: (entries) =>
      put(
        tab,
        entries.flatMap(({ isStored, record }) => (isStored ? record : [])),
      ),
    bury: (record) => bury(tab, record),
    claim: async (entry, seen) => {
      const { record } = entry;
      // Without a database nobody else can have it, except what is being taken over.
      const isOurs = entry.phase !== Phase.Adopting || tab.isAlone;
      const isAsked = entry.isStored && tab.transact;
      const isWon = await (isAsked ? putIfSeen(tab, record, seen) : isOurs);
      claimed(tab, { entry, record }, isWon);
      pump(tab);
    },
    send: async (entry) => {
      slots--;
      setTimeout(() => slots++, (1000 * burst) / perSecond);
      answered(tab, entry, await request(tab, entry));
      pump(tab);
    },
    settle: (entry, reason) => {
      const status = reason ? 'dropped' : 'delivered';
      entry.abort?.();
      entry.resolve?.({ status, reason });
      tab.emit(status, { ...entry.record, reason });
    },
  } satisfies Omit<Ports, 'emit'>);
};

/** Sends what can be sent, and looks again every second: no wake-up can be missed. */
export const pump = (tab: Tab): void => {
  tick(tab);
  clearTimeout(tab.timer);
  if (tab.life === Life.Open && tab.entries[0]) {
    tab.timer = setTimeout(pump, 1000, tab);
  }
};
