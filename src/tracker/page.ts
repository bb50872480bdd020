import { watchExits } from './exit.js';
import { openLocalStorage, type TextStore } from './store.js';
import { createTabs } from './tabs.js';

/** The methods of a tracker that its {@link TrackerEnvironment} calls. */
export interface PageListener {
  /** The page ends, perhaps only for a while. */
  readonly leave: () => void;
  readonly comeBack: () => void;
  /** The network may be back. */
  readonly retryNow: () => void;
  /** Other pages may have left events. */
  readonly look: () => void;
  /** Another tab may have decided, or a script may have cleared the store. */
  readonly pump: () => void;
  readonly noteExit: (isWithinSite: boolean) => void;
}

/** The environment of a tracker: a page or an app. A server has none. */
export interface TrackerEnvironment {
  readonly openStore: () => TextStore;
  readonly isOnline: () => boolean;
  readonly createTabs: typeof createTabs;
  /** Calls `work` once the page or app is visible. */
  readonly whenShown: (work: () => void) => void;
  /** Why events are kept in memory only, whatever the options say. */
  readonly memoryReason?: string | undefined;
  /** Listens to the events of the page or app; returns the function that stops it. */
  readonly observe: (prefix: string, listener: PageListener) => () => void;
}

const CONTENT_SCRIPT_REASON =
  'In a content script localStorage belongs to the site: events stay in memory.';

/** The page of a browser; `undefined` on a server. */
export const pageOfBrowser = (): TrackerEnvironment | undefined =>
  // `document` is absent on a server, whatever the types say.
  (globalThis.document as Document | undefined) && {
    openStore: openLocalStorage,
    isOnline: () => navigator.onLine,
    createTabs,
    whenShown,
    memoryReason: isContentScript() ? CONTENT_SCRIPT_REASON : undefined,
    observe,
  };

/** Waits until a prerendered page is shown: the visitor may never see it. */
const whenShown = (work: () => void): void => {
  // Not in the types of the DOM yet.
  if ((document as { prerendering?: boolean }).prerendering) {
    document.addEventListener('prerenderingchange', work, { once: true });
  } else {
    work();
  }
};

/** True in the content script of a browser extension. */
const isContentScript = (): boolean => {
  const { chrome, browser } = globalThis as Record<string, unknown>;
  const isExtension = [chrome, browser].some((api) => {
    const { runtime } = Object(api) as { runtime?: { id?: unknown } };
    return !!runtime?.id;
  });
  return isExtension && /^http/.test(location.protocol);
};

const observe = (prefix: string, listener: PageListener): (() => void) => {
  const look = () => listener.look();
  const stopListening = listen({
    pagehide: () => listener.leave(),
    pageshow: ({ persisted }: PageTransitionEvent) => {
      if (persisted) {
        listener.comeBack();
      }
    },
    online: () => listener.retryNow(),
    focus: look,
    storage: ({ key, newValue }: StorageEvent) => {
      if (key === null || key === `${prefix}consent`) {
        listener.pump();
      } else if (key.startsWith(prefix) && newValue?.includes('"owner":""')) {
        listener.look();
      }
    },
  });
  const stopWatching = watchExits((isWithinSite) => listener.noteExit(isWithinSite));
  // On a phone a tab that becomes visible again gets no focus event.
  addEventListener('visibilitychange', look);
  return () => {
    stopListening();
    removeEventListener('visibilitychange', look);
    stopWatching();
  };
};

/** Adds listeners to the window; returns the function that removes them. */
const listen = (listeners: {
  readonly [Name in keyof WindowEventMap]?: (event: never) => void;
}): (() => void) => {
  const entries = Object.entries(listeners) as [string, EventListener][]; // as: each fits its event
  entries.forEach(([name, listener]) => addEventListener(name, listener));
  return () => entries.forEach(([name, listener]) => removeEventListener(name, listener));
};
