import { bodyOf, request } from '../send/request.js';
import type { Tab } from '../tab.js';
import type { TrackerStats } from '../types.js';
import { answered } from './answers.js';
import { claimed, tick } from './protocol.js';
import { type Entry, Life, type Ports } from './state.js';
import { bury, read, write } from './stores.js';

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
    sizeOf: (record) => new TextEncoder().encode(bodyOf(tab, record)).length,
    heldUntil: () => +`${tab.local[holdKey]}` || 0,
    hold: (until) => write(tab, holdKey, until),
    // What there is no room for is not stored at all: at the end of the page nothing could tell
    // that it is still ours.
    note: (entry) => {
      if (write(tab, entry.record.id, entry.record)) {
        entry.isStored = true;
      }
    },
    put: (entries) =>
      tab.database?.put(entries.flatMap(({ isStored, record }) => (isStored ? record : []))),
    bury: (record) => bury(tab, record),
    claim: async (entry, seen, told) => {
      const { record } = entry;
      // Without a database nobody else can have it, except what is being taken over.
      const isOurs = !told || tab.isAlone;
      const isAsked = entry.isStored && tab.database;
      const isWon = await (isAsked ? isAsked.claim(record, seen) : isOurs);
      (told ?? claimed)(tab, { entry, record }, isWon);
      pump(tab);
    },
    send: (batch) => {
      // The service takes one event in a request, a proxy of ours any number.
      for (const entries of tab.publicKey ? batch.map((entry) => [entry]) : [batch]) {
        void sendBatch(tab, entries);
        slots--;
        setTimeout(() => slots++, (1000 * burst) / perSecond);
      }
    },
    settle: (entry, reason) => {
      const status = reason ? 'dropped' : 'delivered';
      count(tab, reason ?? 'delivered');
      entry.exchange?.abort();
      entry.resolve?.({ status, reason });
      tab.emit(status, { ...entry.record, reason });
    },
  } satisfies Omit<Ports, 'emit'>);
};

const sendBatch = async (tab: Tab, batch: readonly Entry[]): Promise<void> => {
  const answer = await request(tab, batch);
  batch.forEach((entry, index) => answered(tab, entry, answer(index)));
  pump(tab);
};

export const count = ({ counts }: Tab, name: keyof TrackerStats): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

/** Sends what can be sent, and looks again every second: no wake-up can be missed. */
export const pump = (tab: Tab): void => {
  tick(tab);
  clearTimeout(tab.timer);
  if (tab.life === Life.Open && tab.entries[0]) {
    tab.timer = setTimeout(pump, 1000, tab);
  }
};
