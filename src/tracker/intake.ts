import { snapshot } from './data.js';
import type { EventRecord } from './record.js';
import { save, textsOf } from './store.js';
import { type Tab, end, refusalOf } from './tab.js';
import type { DropReason, Outcome, PendingEvent, TrackedEvent } from './types.js';

/** Takes one event in: filtered, checked and stored before this returns. */
export const take = (tab: Tab, asked: PendingEvent): TrackedEvent => {
  const { beforeSend, owner } = tab;
  const item = beforeSend ? beforeSend(asked) : asked;
  // Three digits from the start: a later copy is never longer.
  const record: EventRecord = { ...(item ?? asked), at: Date.now(), owner, state: 0, version: 100 };
  record.data = snapshot(record.data);
  const reason = item ? (refusalOf(tab) ?? overflowOf(tab, record)) : 'filtered';
  const outcome = new Promise<Outcome>((resolve) => {
    tab.ends.set(record, resolve);
    if (reason) end(tab, record, reason);
    else {
      tab.records.push(record);
      void save(tab, record);
      // Whatever happens to it, nobody waits for it longer than this.
      setTimeout(resolve, 1e4, { status: 'queued' });
    }
  });
  return { id: asked.id, outcome };
};

/** Why one more event is not taken in. */
const overflowOf = (tab: Tab, record: EventRecord): DropReason | undefined => {
  const { maxQueue = 500, maxBytes = 262_144, sampleRate = 1 } = tab;
  const { length } = [...textsOf(tab), JSON.stringify(record)].join('');
  if (Math.random() >= sampleRate) return 'sampled';
  if (tab.records.length >= maxQueue || length > maxBytes) return 'overflow';
  return;
};
