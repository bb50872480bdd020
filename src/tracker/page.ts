import { pump } from './queue/connect.js';
import { adoptOrphans } from './queue/orphans.js';
import { grant, leave, open } from './queue/protocol.js';
import { Life } from './queue/state.js';
import { openDurable, openLocal } from './queue/stores.js';
import { sleep } from './send/wait.js';
import type { Tab } from './tab.js';

/** The life of one page: it starts, sends, leaves, comes back and ends. */
export interface Page {
  /** Stores and sends from now on. */
  readonly start: () => void;
  /** Ends the wait after a failure; not that of a 429, which the service asked for. */
  readonly hurry: () => void;
  readonly dispose: () => void;
}

export const createPage = (tab: Tab): Page => {
  let lock: AbortController | undefined;
  const look = async (focus?: unknown) => {
    pump(tab);
    if (tab.life !== Life.Open || tab.storage === 'memory') {
      return;
    }
    await openDurable(tab);
    if ((await adoptOrphans(tab)) && !focus) {
      await sleep(1e4).then(look);
    }
  };
  const begin = async () => {
    tab.life = Life.Starting;
    lock = new AbortController();
    holdLock(tab, lock);
    await openDurable(tab);
    open(tab);
    await look();
  };
  const listeners = {
    pagehide: () => {
      tab.database?.abort();
      leave(tab);
      lock?.abort();
    },
    pageshow: ({ persisted }: PageTransitionEvent) => void (persisted && begin()),
    online: () => {
      tab.until = 0;
      pump(tab);
    },
    focus: look,
  };
  const listen = (change: (name: string, listener: never) => void) => {
    for (const name in listeners) {
      change(name, listeners[name as keyof typeof listeners] as never);
    }
  };
  return {
    start: () => {
      const isFirst = tab.life === Life.Held;
      if (isFirst) {
        openLocal(tab);
      }
      grant(tab);
      if (isFirst) {
        listen(addEventListener);
        void begin();
      }
    },
    hurry: listeners.online,
    dispose: () => {
      if (tab.life !== Life.Held) {
        listen(removeEventListener);
      }
      listeners.pagehide();
    },
  };
};

/**
 * Held for life: whoever asks for the names of all locks knows which tabs are gone. A page that is
 * left before it has its lock must not get it either, for it may stay in the back/forward cache.
 */
const holdLock = (tab: Tab, lock: AbortController): void => {
  if (tab.storage === 'memory') {
    return;
  }
  // Nobody takes the lock of another tab, so it never has to be waited for. The controller is the
  // options as well: all that is read of them is its `signal`.
  // Absent in an insecure context and in old browsers, whatever the types say.
  (navigator.locks as LockManager | undefined)
    ?.request(
      tab.owner,
      lock,
      () =>
        new Promise((release) => {
          lock.signal.onabort = release;
        }),
    )
    .catch(() => undefined);
};
