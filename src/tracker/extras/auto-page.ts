import type { TrackedEvent, Transient } from '../types.js';

/** Options of {@link autoPage}. */
export interface AutoPageOptions {
  /** Name of the event. @default 'page_viewed' */
  readonly event?: string;
}

/** The part of a tracker that `autoPage()` uses. */
export interface PageTracker {
  /** Tracks one event. */
  track(event: string, data: Record<string, Transient<string>>): TrackedEvent;
}

/** The state of a tracker whose pages are tracked, shared by all callers. */
interface WatchedPages {
  isOn: boolean;
  /** The address of the page that was tracked last. */
  last: string;
}

const watches = new WeakMap<object, WatchedPages>();

/**
 * Tracks the page and each later route of a single-page app.
 *
 * A change of the path counts as a new page; a page that comes back from the back/forward cache is tracked
 * again. The data are values of this event only: `url` (without query and fragment, which may hold secrets),
 * `referrer` and the UTM parameters. Returns the function that stops it. A second call for the same tracker
 * does nothing, and neither does a call on a server. Never throws.
 */
export function autoPage(tracker: PageTracker, options?: AutoPageOptions): () => void {
  const watch = watches.get(tracker) ?? { isOn: false, last: '' };
  watches.set(tracker, watch);
  if (typeof document === 'undefined' || watch.isOn) {
    return () => undefined;
  }
  watch.isOn = true;
  let { referrer } = document;
  const look = () => {
    const url = withoutQuery(location.href);
    if (url === watch.last) {
      return;
    }
    watch.last = url;
    try {
      const data = dataOf({ url, referrer: referrer && withoutQuery(referrer) });
      tracker.track(options?.event || 'page_viewed', data);
    } catch (error) {
      // Do not rethrow: a router would treat the error as a failed navigation.
      console.error(error);
    }
    referrer = url;
  };
  const showAgain = ({ persisted }: PageTransitionEvent) => {
    if (persisted) {
      watch.last = '';
      look();
    }
  };
  const stopRoutes = watchRoutes(look);
  addEventListener('pageshow', showAgain);
  look();
  return () => {
    watch.isOn = false;
    removeEventListener('pageshow', showAgain);
    stopRoutes();
  };
}

const withoutQuery = (url: string): string => url.replace(/[?#].*/, '');

/** Marks the values as transient, and omits empty ones. */
const dataOf = (values: Record<string, string>): Record<string, Transient<string>> => {
  const utm = [...new URLSearchParams(location.search)].filter(([name]) => /^utm_/.test(name));
  const filled = [...Object.entries(values), ...utm].filter(([, value]) => value);
  return Object.fromEntries(filled.map(([name, value]) => [name, { value, persistent: false }]));
};

/** Calls `look` after each change of the address within the page; returns the function that stops it. */
const watchRoutes = (look: () => void): (() => void) => {
  // The Navigation API is not in every browser. It reports the changes of all routers.
  const { navigation } = globalThis as { navigation?: EventTarget };
  if (navigation) {
    navigation.addEventListener('currententrychange', look);
    return () => navigation.removeEventListener('currententrychange', look);
  }
  const stops = [patch('pushState', look), patch('replaceState', look)];
  addEventListener('popstate', look);
  return () => {
    removeEventListener('popstate', look);
    stops.forEach((stop) => stop());
  };
};

/** Calls `look` after a change of the address: no event reports these two methods. */
const patch = (name: 'pushState' | 'replaceState', look: () => void): (() => void) => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with `history` below
  const original = history[name];
  let isStopped = false;
  const reportChange: typeof original = (...change) => {
    original.apply(history, change);
    if (!isStopped) {
      look();
    }
  };
  history[name] = reportChange;
  return () => {
    isStopped = true;
    // If another script has wrapped this function since, it stays in place and does nothing.
    if (history[name] === reportChange) {
      history[name] = original;
    }
  };
};
