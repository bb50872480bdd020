import { snapshot } from '../data.js';
import type { EventRecord } from './record.js';
import { save, textsOf } from './store.js';
import { type Tab, end, refusalOf } from '../tab.js';
import type { DropReason, Outcome, PendingEvent, TrackedEvent } from '../types.js';

/** Takes one event in: filtered, checked and stored before this returns. */
export const take = (tab: Tab, asked: PendingEvent): TrackedEvent => {
  const { owner, beforeSend = (event: PendingEvent) => event, sampleRate = 1 } = tab;
  const { maxQueue = 500, maxBytes = 2 ** 18 } = tab;
  const item: Omit<PendingEvent, 'id'> | null = beforeSend(asked);
  // The id first, so that texts sort. Three digits from the start: no later copy is longer.
  const record: EventRecord = {
    id: asked.id,
    ...(item ?? asked),
    at: Date.now(),
    owner,
    state: 0,
    version: 100,
  };
  record.data = snapshot(record.data);
  const { length } = textsOf(tab).join('') + JSON.stringify(record);
  let reason: DropReason | undefined = item ? refusalOf(tab) : 'filtered';
  if (Math.random() >= sampleRate) {
    reason ??= 'sampled';
  }
  if (tab.records.length >= maxQueue || length > maxBytes) {
    reason ??= 'overflow';
  }
  const outcome = new Promise<Outcome>((resolve) => {
    tab.ends.set(record, resolve);
    if (reason) {
      end(tab, record, reason);
    } else {
      tab.records.push(record);
      void save(tab, record);
      // Whatever happens to it, nobody waits for it longer than this.
      setTimeout(resolve, 1e4, { status: 'queued' });
    }
  });
  return { id: asked.id, outcome };
};
