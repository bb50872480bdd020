/** How long a page may take to be replaced after a navigation has begun. */
const MAX_NAVIGATION_MS = 10_000;

// Not in the types of the DOM yet.
type PageSwap = Event & {
  readonly activation?: { readonly entry?: { readonly url?: string | null } };
};
type Navigate = Event & {
  readonly destination: { readonly url: string; readonly sameDocument: boolean };
  readonly downloadRequest: string | null;
};
type Navigation = EventTarget;

/**
 * Observes whether the page is about to be replaced by another page of its origin. `pageswap` knows this
 * after all redirects (Chromium, WebKit). Elsewhere `navigate` knows it when the navigation begins (Firefox).
 * Without either event, the page counts as left for another site. Returns a function that stops the
 * observation.
 *
 * @param onExit Called with true if the page is about to be replaced within its site.
 */
export const watchExits = (onExit: (isWithinSite: boolean) => void): (() => void) => {
  const { navigation } = globalThis as { navigation?: Navigation };
  const stops: (() => void)[] = [];
  const listen = (
    target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>,
    name: string,
    listener: (event: never) => void,
  ) => {
    target.addEventListener(name, listener as EventListener);
    stops.push(() => target.removeEventListener(name, listener as EventListener));
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const report = (isWithinSite: boolean) => {
    clearTimeout(timer);
    onExit(isWithinSite);
  };
  if ('onpageswap' in globalThis) {
    listen(globalThis, 'pageswap', ({ activation }: PageSwap) => report(!!activation?.entry?.url));
  } else if (navigation) {
    listen(navigation, 'navigate', ({ destination, downloadRequest }: Navigate) => {
      if (!destination.sameDocument && downloadRequest === null) {
        report(originOf(destination.url) === location.origin);
        // The navigation may have no effect: the response is a 204, or the visitor stops it.
        timer = setTimeout(report, MAX_NAVIGATION_MS, false);
      }
    });
    // The navigation was intercepted: the page stays.
    listen(navigation, 'navigatesuccess', () => report(false));
  }
  return () => {
    report(false);
    stops.forEach((stop) => stop());
  };
};

const originOf = (url: string): string | undefined => {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
};
