import { watchExits } from './exit.js';
import { adoptOrphans } from './queue/orphans.js';
import { leave, open, start, sweep } from './queue/protocol.js';
import { pump } from './queue/pump.js';
import { Life } from './queue/state.js';
import { decisionsKeyOf, openDurable } from './queue/stores.js';
import type { Tab } from './tab.js';

/** The life of one page: it starts, sends, leaves, comes back and ends. */
export interface Page {
  /** Stores and sends from now on. */
  readonly start: () => void;
  /** Ends the wait after a failure; not that of a 429, which the service asked for. */
  readonly retryNow: () => void;
  readonly dispose: () => void;
}

/** How often a page looks for events of tabs that have gone while others still have some. */
const NEXT_LOOK = 1e4;
/** How often IndexedDB is opened by itself, the start of the page included; a focus tries again. */
const MAX_OPENS = 3;

export const createPage = (tab: Tab): Page => (tab.document ? livingPage(tab) : NO_PAGE);

/** On a server there is none. */
const NO_PAGE: Page = {
  start: () => undefined,
  retryNow: () => undefined,
  dispose: () => undefined,
};

const livingPage = (tab: Tab): Page => {
  const { look, stopLooking } = createLook(tab);
  const begin = async () => {
    tab.life = Life.Starting;
    await openDurable(tab);
    open(tab);
    await look();
  };
  const end = () => {
    stopLooking();
    tab.database?.abort();
    leave(tab);
    tab.channel.close();
  };
  const comeBack = () => {
    tab.isWithinSite = false;
    // Others may have decided meanwhile.
    tab.isConsentKnown = false;
    tab.channel.open();
    if (tab.isStarted) {
      void begin();
    }
  };
  const stopListening = listen({
    pagehide: end,
    pageshow: ({ persisted }: PageTransitionEvent) => {
      if (persisted) {
        comeBack();
      }
    },
    online: () => retryNow(tab),
    focus: () => void look(),
    // Another tab has decided, or cleared what it found.
    storage: ({ key }: StorageEvent) => {
      if (key === null || key === decisionsKeyOf(tab)) {
        sweep(tab);
      }
    },
  });
  const stopWatching = watchExits(tab);
  tab.channel.open();
  return {
    start: () => {
      const isFirst = !tab.isStarted;
      start(tab);
      if (isFirst) {
        void begin();
      }
    },
    retryNow: () => retryNow(tab),
    dispose: () => {
      stopListening();
      stopWatching();
      end();
    },
  };
};

/** Sends, and looks for what other pages have left: now, and again while others have events. */
const createLook = (tab: Tab) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;
  let opens = 1;
  const look = async (): Promise<void> => {
    clearTimeout(timer);
    pump(tab);
    if (tab.life !== Life.Open || !tab.isDurable || isLooking) {
      return;
    }
    isLooking = true;
    await openDurable(tab);
    const isMore = await adoptOrphans(tab);
    isLooking = false;
    const mayOpen = !tab.database && ++opens < MAX_OPENS;
    if (isMore || mayOpen) {
      timer = setTimeout(() => void look(), NEXT_LOOK);
    }
  };
  return { look, stopLooking: () => clearTimeout(timer) };
};

const retryNow = (tab: Tab): void => {
  tab.until = 0;
  pump(tab);
};

/** Listens to a page; returns the function that stops it. */
const listen = (listeners: {
  readonly [Name in keyof WindowEventMap]?: (event: never) => void;
}): (() => void) => {
  const entries = Object.entries(listeners) as [string, EventListener][];
  entries.forEach(([name, listener]) => addEventListener(name, listener));
  return () => entries.forEach(([name, listener]) => removeEventListener(name, listener));
};
