import { bodyOf } from '../send/request.js';
import type { Tab } from '../tab.js';
import { count } from './counts.js';
import { createPace } from './pace.js';
import { claimed } from './protocol.js';
import { pump, sendBatch } from './pump.js';
import type { Ports } from './state.js';
import {
  deleteRecord,
  holdKeyOf,
  read,
  remove,
  saveDecisions,
  storedDecisions,
  write,
} from './stores.js';

/** Connects the queue of a tab with the browser. */
export const connect = (tab: Tab): Omit<Ports, 'emit'> => {
  const pace = createPace(tab);
  return {
    now: () => Date.now(),
    isOnline: () => navigator.onLine,
    hasSlot: pace.hasSlot,
    copyOf: (id) => read(tab, id),
    storedDecisions: () => storedDecisions(tab),
    saveDecisions: (decisions) => saveDecisions(tab, decisions),
    sizeOf: (record) => new TextEncoder().encode(bodyOf(tab, record)).length,
    pausedUntil: () => +`${tab.local[holdKeyOf(tab)]}` || 0,
    pauseAllTabs: (until) => write(tab, holdKeyOf(tab), until),
    // What there is no room for is not stored at all: at the end of the page nothing could tell
    // that it is still ours.
    saveLocal: (entry) => {
      if (write(tab, entry.record.id, entry.record)) {
        entry.isStored = true;
      }
    },
    saveDurable: (entries) =>
      tab.database?.put(entries.flatMap(({ isStored, record }) => (isStored ? record : []))),
    deleteRecord: (record) => deleteRecord(tab, record),
    removeRecord: (id) => {
      remove(tab, id);
      void tab.database?.remove(id);
    },
    claim: async (entry, seen, onClaimed) => {
      const { record } = entry;
      // Without a database no other tab can have it, except what is being taken over.
      const isOurs = !onClaimed || tab.isAlone;
      const database = entry.isStored && tab.database;
      const isWon = await (database ? database.claim(record, seen) : isOurs);
      (onClaimed ?? claimed)(tab, { entry, record }, isWon);
      pump(tab);
    },
    send: (batch) => {
      // The service takes one event in a request, a proxy of ours up to 20.
      for (const entries of tab.publicKey ? batch.map((entry) => [entry]) : [batch]) {
        void sendBatch(tab, entries);
        pace.take();
      }
    },
    finish: (entry, reason) => {
      const status = reason ? 'dropped' : 'delivered';
      count(tab, reason ?? 'delivered');
      entry.exchange?.abort();
      entry.resolve?.({ status, reason });
      tab.emit(status, { ...entry.record, reason });
    },
  };
};
