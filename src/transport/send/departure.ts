import { callSafely } from '../../async/notifier.js';
import { causesOf } from '../fault.js';

/** Has a request left this machine, as far as the runtime reports it? `undefined` where it does not. */
export type Departed = boolean | undefined;

const watched = new Map<string, Set<Departure>>();
/** Which of them a request of undici may be. */
const watchersOf = new WeakMap<object, readonly Departure[]>();
/** Where a connection could not be made, by its fault. */
const connectFaults = new WeakMap<object, string>();
/** Hosts that were reached over HTTP/2: older versions do not announce what they send there. */
const http2Hosts = new Set<string>();

/**
 * Watches whether one request leaves. Node's `fetch` and the one of the undici package report it on
 * `diagnostics_channel`; of any other nothing is known.
 */
export class Departure {
  readonly #line: string;
  readonly #host: string;
  readonly #fetch: unknown;
  /** A request of this kind that may still be sent. */
  readonly #waiting = new Set<object>();
  #isCreated = false;
  #hasLeft = false;
  /** Was another one like it under way meanwhile? Node does not identify which of them a request is. */
  #isAlone = true;
  /** Did all of those use the same `fetch`? */
  #isUniform = true;
  #connectFault: object | undefined;

  /** @param fetch the user's own, `undefined` for the runtime's */
  constructor(method: string, url: string, fetch: unknown) {
    const { origin, host, pathname, search } = new URL(url);
    this.#line = `${method} ${origin}${pathname}${search}`;
    this.#host = host;
    this.#fetch = fetch;
    subscribe();
    const others = watched.get(this.#line) ?? new Set();
    for (const other of others) {
      other.#meets(this);
      this.#meets(other);
    }
    watched.set(this.#line, others.add(this));
  }

  /** What is known once `fetch` has failed, or was told to give up. */
  after(fault: unknown, isGivenUp: boolean): Departed {
    if (causesOf(fault).some((cause) => connectFaults.get(cause) === this.#host)) {
      // Alone, and yet one has left: it was followed by another, which could not connect.
      return this.#isAlone && this.#hasLeft;
    }
    if (!this.#isCreated || !this.#isUniform || http2Hosts.has(this.#host)) {
      return undefined;
    }
    // A `fetch` of the user may have failed, or given up, before the request in it has.
    const isOver = this.#fetch === undefined || (!isGivenUp && this.#waiting.size === 0);
    return this.#hasLeft || !isOver;
  }

  #meets(other: Departure): void {
    this.#isAlone = false;
    this.#isUniform &&= this.#fetch === other.#fetch;
  }

  created(request: object): void {
    this.#isCreated = true;
    this.#waiting.add(request);
  }

  left(): void {
    this.#hasLeft = true;
  }

  failed(request: object): void {
    this.#waiting.delete(request);
  }

  couldNotConnect(host: string, fault: object): void {
    if (host === this.#host) {
      this.#connectFault = fault;
    }
  }

  /** Why no connection could be made: `fetch` hides what a proxy answered. */
  get connectFault(): object | undefined {
    return this.#connectFault;
  }

  /** Ends the watch. */
  stop(): void {
    const others = watched.get(this.#line);
    others?.delete(this);
    if (others?.size === 0) {
      watched.delete(this.#line);
    }
  }
}

let isSubscribed = false;

// Once for each process: Node reports all requests on one channel.
function subscribe(): void {
  if (isSubscribed) {
    return;
  }
  isSubscribed = true;
  const channels = diagnosticsChannels();
  const listen = (name: string, listener: (message: UndiciMessage) => void) => {
    // Node makes what a listener throws an uncaught exception; another version may send other messages.
    channels?.subscribe(name, (message) => callSafely(() => listener(message as UndiciMessage)));
  };
  listen('undici:request:create', ({ request }) => {
    const watchers = [...(watched.get(`${request.method} ${request.origin}${request.path}`) ?? [])];
    watchersOf.set(request, watchers);
    watchers.forEach((watcher) => watcher.created(request));
  });
  listen('undici:client:sendHeaders', ({ request }) => {
    watchersOf.get(request)?.forEach((watcher) => watcher.left());
  });
  listen('undici:request:error', ({ request }) => {
    watchersOf.get(request)?.forEach((watcher) => watcher.failed(request));
  });
  listen('undici:client:connectError', ({ error, connectParams }) => {
    connectFaults.set(error, connectParams.host);
    for (const watcher of [...watched.values()].flatMap((watchers) => [...watchers])) {
      watcher.couldNotConnect(connectParams.host, error);
    }
  });
  listen('undici:client:connected', ({ socket, connectParams }) => {
    if (socket.alpnProtocol === 'h2') {
      http2Hosts.add(connectParams.host);
    }
  });
}

function diagnosticsChannels() {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  try {
    return process?.getBuiltinModule?.('node:diagnostics_channel');
  } catch {
    return undefined; // Next.js's edge runtime has the function, and it throws
  }
}

/** What undici publishes; each channel has some of these. */
interface UndiciMessage {
  readonly request: { readonly method: string; readonly origin: string; readonly path: string };
  readonly connectParams: { readonly host: string };
  readonly error: object;
  readonly socket: { readonly alpnProtocol?: unknown };
}
