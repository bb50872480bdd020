import { adoptOrphans } from './queue/orphans.js';
import { createSender } from './send/sender.js';
import { hold, open, readForeign } from './queue/store.js';
import { type Tab, forget, mark } from './tab.js';
import { sleep } from './send/wait.js';

/**
 * The life of one page: it takes its lock, sends, leaves, comes back and ends. `start` resolves
 * once this tab may send, `hurry` ends the wait after a failure.
 */
export type Page = readonly [
  drain: () => Promise<void>,
  hurry: () => Promise<void>,
  start: () => Promise<void>,
  dispose: () => void,
];

export const createPage = (tab: Tab): Page => {
  const [drain, exit] = createSender(tab);
  let ready: Promise<void> | undefined;
  const hurry = () => {
    hold(tab, 0);
    return drain();
  };
  const look = async (focus?: unknown) => {
    const isMore = tab.transact && tab.isOwner && (await adoptOrphans(tab));
    void drain();
    if (isMore && !focus) {
      await sleep(1e4).then(look);
    }
  };
  const leave = () => {
    if (tab.isOwner !== false) {
      exit();
    }
    tab.isOwner = false;
    tab.release?.();
  };
  const back = ({ persisted }: PageTransitionEvent) => void (persisted && own());
  const listeners = { pagehide: leave, pageshow: back, online: hurry, focus: look };
  const listen = (change: (name: string, listener: never) => void) => {
    for (const name in listeners) {
      change(name, listeners[name as keyof typeof listeners] as never);
    }
  };
  const own = async () => {
    // Adding a listener again changes nothing.
    tab.isOwner = undefined;
    listen(addEventListener);
    await open(tab);
    // What another tab took over while this page was in the back/forward cache is not ours.
    for (const record of await readForeign(tab)) {
      forget(tab, record);
    }
    for (const record of tab.records) {
      if (!record.state) {
        void mark(tab, record, 0);
      }
    }
    // Not if it was left or disposed of meanwhile.
    tab.isOwner ??= true;
    void drain();
    void look();
  };
  return [
    drain,
    hurry,
    () => {
      ready ??= own();
      return ready;
    },
    () => {
      leave();
      if (ready) {
        listen(removeEventListener);
      }
    },
  ];
};
