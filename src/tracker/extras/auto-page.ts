import { readOptions } from '../settings.js';
import type { TrackedEvent, Transient } from '../types.js';

/** Options of {@link autoPage}. */
export interface AutoPageOptions {
  /** Name of the event. @default 'page_viewed' */
  readonly event?: string;
}

/** What is used of a tracker. */
export interface PageTracker {
  /** Tracks one event. */
  track(event: string, data: Record<string, Transient<string>>): TrackedEvent;
}

/**
 * Tracks the page and each later route of a single-page app, a change of the path being a new page.
 * Its data are values of this event only: `url` (without query and fragment, which may hold
 * secrets), `referrer` and the UTM parameters. Returns the function that stops it. Does nothing on
 * a server.
 */
export function autoPage(tracker: PageTracker, options?: AutoPageOptions): () => void {
  const { event } = readOptions(options, { event: 'string' });
  if (typeof document === 'undefined') {
    return () => undefined;
  }
  let last = '';
  let { referrer } = document;
  const look = () => {
    const url = withoutQuery(location.href);
    if (url === last) {
      return;
    }
    tracker.track(
      event || 'page_viewed',
      dataOf({ url, referrer: referrer && withoutQuery(referrer) }),
    );
    last = url;
    referrer = url;
  };
  const stops = [watch('pushState', look), watch('replaceState', look)];
  addEventListener('popstate', look);
  look();
  return () => {
    removeEventListener('popstate', look);
    stops.forEach((stop) => stop());
  };
}

const withoutQuery = (url: string): string => url.replace(/[?#].*/, '');

/** Values that no contact keeps, and none that is empty. */
const dataOf = (values: Record<string, string>): Record<string, Transient<string>> => {
  const utm = [...new URLSearchParams(location.search)].filter(([name]) => /^utm_/.test(name));
  const filled = [...Object.entries(values), ...utm].filter(([, value]) => value);
  return Object.fromEntries(filled.map(([name, value]) => [name, { value, persistent: false }]));
};

/** Calls `look` after a change of the address; no event tells of these two. */
const watch = (name: 'pushState' | 'replaceState', look: () => void): (() => void) => {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with `history` below
  const original = history[name];
  let isStopped = false;
  const changed: typeof original = (...change) => {
    original.apply(history, change);
    if (!isStopped) {
      look();
    }
  };
  history[name] = changed;
  return () => {
    isStopped = true;
    // Another script may have put its own around ours: then ours stays, and does nothing.
    if (history[name] === changed) {
      history[name] = original;
    }
  };
};
