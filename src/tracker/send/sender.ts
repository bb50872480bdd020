import { createSend } from './send.js';
import { isHeld } from '../queue/store.js';
import type { Tab } from '../tab.js';
import { sleep } from './wait.js';

/**
 * Sends the queue, one event after the other. `drain` resolves when nothing is left; `exit` hands
 * over what fits, for the page ends.
 */
export type Sender = readonly [drain: () => Promise<void>, exit: () => void];

export const createSender = (tab: Tab): Sender => {
  const { perSecond = 5, burst = 20 } = tab.limit ?? {};
  const send = createSend(tab);
  let slots = burst;
  let run: Promise<void> | undefined;
  // Those of a known contact that are not on their way; none while nothing can be sent.
  const sendable = () =>
    tab.records.filter(
      (record) =>
        record.state !== 2 &&
        (record.email ?? tab.email) &&
        !tab.isPaused &&
        navigator.onLine &&
        !isHeld(tab),
    );
  const loop = async () => {
    while (tab.isOwner && tab.records[0]) {
      const [record] = sendable();
      if (record && slots) {
        slots--;
        setTimeout(() => slots++, (1000 * burst) / perSecond);
        await send(record);
      } else {
        await sleep(1000);
      }
      // Looked at again every second: no wake-up can be missed, so nothing can stall.
    }
    run = undefined;
  };
  // Not `loop()`: one that ends at once would clear `run` before it is set, for good.
  const drain = () => {
    run ??= Promise.resolve().then(loop);
    return run;
  };
  const exit = () => {
    for (const record of sendable().slice(0, 20)) {
      void send(record, true);
    }
  };
  return [drain, exit];
};
