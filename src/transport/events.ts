import { EventEmitter } from 'eventemitter3';
import { callSafely } from '../async/notifier.js';
import type { ClientEvents, Logger, WarningEvent } from '../contract/events.js';
import type { PostreelError } from '../errors/index.js';
import { printWarning } from './print-warning.js';

type Listener = (event: never) => void;
type Guarded = (event: unknown) => void;

/** The events of one client. A listener or logger that throws does not affect the call, and is warned of once. */
export class Events<Map extends ClientEvents> {
  readonly #emitter = new EventEmitter();
  readonly #guarded = new WeakMap<Listener, Guarded>();
  readonly #logger: Logger | undefined;
  /** The listeners, and the logger, that have failed. */
  readonly #failed = new WeakSet<object>();

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  on(name: keyof Map & string, listener: Listener): void {
    this.#emitter.on(name, this.#guard(name, listener));
  }

  once(name: keyof Map & string, listener: Listener): void {
    this.#emitter.once(name, this.#guard(name, listener));
  }

  off(name: keyof Map & string, listener: Listener): void {
    this.#emitter.off(name, this.#guard(name, listener));
  }

  /** Is there a listener or a logger? An event without one need not be made. */
  isObserved(name: keyof Map & string): boolean {
    return this.#logger !== undefined || this.#emitter.listenerCount(name) > 0;
  }

  /** Has this event listeners? For events that no logger prints. */
  hasListeners(name: keyof Map & string): boolean {
    return this.#emitter.listenerCount(name) > 0;
  }

  emit<Name extends keyof Map & string>(name: Name, event: Map[Name]): void {
    this.#log(name, event);
    const isHandled = this.#emitter.emit(name, event);
    const isLogged = this.#logger !== undefined && !this.#failed.has(this.#logger);
    if (name === 'warning' && !isHandled && !isLogged) {
      printWarning((event as WarningEvent).message); // by its name
    }
  }

  // One guard for each listener, so that off() finds it again.
  #guard(name: string, listener: Listener): Guarded {
    const known = this.#guarded.get(listener);
    if (known) {
      return known;
    }
    const report = (error: unknown) => {
      this.#write('error', 'postreel: a listener threw', { error });
      const message = `A listener of \`${name}\` failed (${kindOf(error)}). The call goes on; what the listener was to do with the event is not done.`;
      if (name === 'warning' && !this.#failed.has(listener)) {
        printWarning(message); // there may be no other that gets this one
      }
      this.#warnOnce(listener, message);
    };
    const listen = listener as (event: unknown) => unknown; // typed by the client
    const guarded = (event: unknown) => callSafely(() => listen(event), report);
    this.#guarded.set(listener, guarded);
    return guarded;
  }

  #log(name: string, event: unknown): void {
    if (!this.#logger) {
      return;
    }
    const level = levels[name] ?? 'debug';
    const facts = level === 'debug' ? (event as object) : withoutPeople(event as object); // events are objects
    const { method = '', path = '' } = facts as { method?: string; path?: string };
    this.#write(level, `postreel: ${name} ${method} ${path}`.trimEnd(), facts);
  }

  #write(level: keyof Logger, line: string, facts: object): void {
    // A log must not break a call.
    callSafely(
      () => this.#logger?.[level]?.(line, facts),
      (error) =>
        this.#warnOnce(
          this.#logger,
          `The logger failed (${kindOf(error)}). Calls go on; some of what they do is not logged.`,
        ),
    );
  }

  #warnOnce(source: object | undefined, message: string): void {
    if (source === undefined || this.#failed.has(source)) {
      return;
    }
    this.#failed.add(source);
    this.emit('warning', { method: '', path: '', message }); // every map has it
  }
}

// Its message may hold anything, the event's secrets too.
function kindOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

const levels: Readonly<Record<string, keyof Logger>> = {
  warning: 'warn',
  mismatch: 'warn',
  retry: 'info',
  throttled: 'info',
};

/** A service may repeat an email address in its own words: those are for `debug` alone. */
function withoutPeople(event: object): object {
  const { error } = event as { error?: PostreelError }; // of a retry
  if (error === undefined) {
    return event;
  }
  const { name, code, status, outcome, requestId } = error;
  return { ...event, error: { name, code, status, outcome, requestId } };
}
