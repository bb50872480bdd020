import type { EventRecord } from './record.js';
import { locks } from './locks.js';
import { readForeign } from './store.js';
import { type Tab, end, mark } from '../tab.js';
import { sleep } from '../send/wait.js';

/** A text with the names of all tabs that live, also of those that are just starting. */
const livingTabs = async (): Promise<string> => JSON.stringify([await locks()?.query()]);

/** Takes over the events of tabs that are gone; true while other tabs have events. */
export const adoptOrphans = async (tab: Tab): Promise<unknown> => {
  const before = await livingTabs();
  // What a tab wrote while leaving may reach this process later than the end of its lock.
  await sleep(1000);
  // In the order of tracking.
  const records = (await readForeign(tab)).filter((record) => record.event) as EventRecord[];
  // A tab that has started since then asked for its lock before it wrote its first event.
  const living = before + (await livingTabs());
  for (const record of records) {
    // Without locks, age tells: a tab sends its events or leaves long before.
    const isYoung = !locks() && Math.abs(Date.now() - record.at) < 6e4;
    if (isYoung || living.includes(record.owner)) {
      continue;
    }
    const isUnconfirmed = record.state && tab.delivery !== 'no-loss';
    record.owner = tab.owner;
    // Another tab was first, or there is no room to note that it is ours.
    if ((await mark(tab, record, isUnconfirmed ? 1 : 0)) !== undefined) {
      continue;
    }
    tab.records.push(record);
    if (isUnconfirmed) {
      end(tab, record, 'unconfirmed');
    }
  }
  return records[0];
};
