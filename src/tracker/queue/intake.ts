import { snapshot } from '../data.js';
import { type Tab, refusalOf } from '../tab.js';
import type { DropReason, PendingEvent, TrackedEvent } from '../types.js';
import { count } from './counts.js';
import { isDenied } from './decisions.js';
import { sweep, take } from './protocol.js';
import type { EventRecord } from './record.js';
import { type Entry, Phase } from './state.js';

/** Takes one event in: filtered, checked and stored before this returns. */
export const takeIn = (tab: Tab, asked: PendingEvent): TrackedEvent => {
  // What is too old makes room.
  sweep(tab);
  const { id } = asked;
  const item = filter(tab, asked);
  const { event, email, data } = item ?? asked;
  const record: EventRecord = {
    id,
    event,
    email: email || undefined,
    data: snapshot(data),
    at: Math.max(Date.now(), tab.decisions.erasedAt + 1),
    owner: tab.owner,
    state: 0,
    // As long as any later one, so that no later copy needs more room.
    version: Date.now(),
    tries: 0,
  };
  const reason = item ? reasonToDrop(tab, record) : 'filtered';
  return {
    id,
    outcome: new Promise((resolve) => {
      const entry: Entry = { record, phase: Phase.Waiting, until: 0, size: 0, resolve };
      if (reason) {
        tab.finish(entry, reason);
      } else {
        count(tab, 'taken');
        take(tab, entry);
        // Whatever happens to it, no caller waits longer than this.
        setTimeout(resolve, 1e4, { status: 'queued' });
      }
    }),
  };
};

const filter = ({ beforeSend }: Tab, asked: PendingEvent): PendingEvent | null => {
  try {
    return beforeSend ? beforeSend(asked) : asked;
  } catch {
    // It may have been about to remove something: what it did not pass stays here.
    return null;
  }
};

const reasonToDrop = (tab: Tab, record: EventRecord): DropReason | undefined => {
  const { maxQueue = 500, maxBytes = 2 ** 18 } = tab;
  const reason = isDenied(tab.decisions) ? 'denied' : undefined;
  if (refusalOf(tab) || reason) {
    return refusalOf(tab) ?? reason;
  }
  // Not added up anew: the host may have thousands of keys.
  const length = tab.storedLength + JSON.stringify(record).length;
  return tab.entries.length >= maxQueue || length > maxBytes ? 'overflow' : undefined;
};
