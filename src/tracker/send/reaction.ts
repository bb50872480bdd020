import { LONGEST_WAIT, delayOf } from './delay.js';
import type { EventRecord } from '../queue/record.js';
import { hold } from '../queue/store.js';
import { type Tab, end, mark } from '../tab.js';
import { sleep } from './wait.js';

/** Ends or keeps an event, by the answer to it. */
export type React = (record: EventRecord, status: number, retryAfter: string) => unknown;

export const createReaction = (tab: Tab): React => {
  let failures = 0;
  // How many failures are left until the service counts as blocked: endless once it answered.
  let left = 3;
  return (record, status, retryAfter) => {
    if (status > 0) {
      left = Infinity;
    }
    // Erased meanwhile.
    if (!tab.records.includes(record)) {
      return;
    }
    if (status > 0 && !/40[138]|429|5../.test(`${status}`)) {
      failures = 0;
      end(tab, record, status > 299 ? 'rejected' : undefined);
      return;
    }
    // No answer, and the page that waited for it was left: the service may have the event.
    if ((status < 0 || (!status && !tab.isOwner)) && tab.delivery !== 'no-loss') {
      end(tab, record, 'unconfirmed');
      return;
    }
    void mark(tab, record, 0);
    if (status === 401 || status === 403) {
      tab.isPaused = true;
      tab.emit('paused', { status });
      return;
    }
    let delayMs = delayOf(retryAfter, failures++);
    if (--left < 1) {
      delayMs = LONGEST_WAIT;
      if (!left) {
        tab.emit('blocked', { delayMs });
      }
    }
    tab.emit('retry', { ...record, status, delayMs });
    return hold(tab, delayMs) || sleep(delayMs);
  };
};
