import { EventEmitter } from 'eventemitter3';
import { callSafely } from './async.js';
import { isError, type PostreelError } from './errors.js';
import type { ClientEvents, Logger, WarningEvent } from './types.js';
import { readEnvironment } from './runtime.js';

type Listener = (event: never) => void;
type GuardedListener = (event: unknown) => void;

/**
 * The events of one client. A listener or logger that throws does not affect the call; it causes one
 * `warning`.
 */
export class Events<Map extends ClientEvents> {
  readonly #emitter = new EventEmitter();
  readonly #guarded = new WeakMap<Listener, Partial<Record<string, GuardedListener>>>();
  readonly #logger: Logger | undefined;
  /** The listeners, and the logger, that have thrown. */
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

  /** Is there a listener or a logger? Without one the event need not be built. */
  isObserved(name: keyof Map & string): boolean {
    return this.#logger !== undefined || this.#emitter.listenerCount(name) > 0;
  }

  /** Does this event have listeners? For events that no logger prints. */
  hasListeners(name: keyof Map & string): boolean {
    return this.#emitter.listenerCount(name) > 0;
  }

  emit<Name extends keyof Map & string>(name: Name, event: Map[Name]): void {
    this.#log(name, event);
    const isHandled = this.#emitter.emit(name, event);
    const isLogged = this.#logger !== undefined && !this.#failed.has(this.#logger);
    if (name === 'warning' && !isHandled && !isLogged) {
      printWarning((event as WarningEvent).message); // as: the event of this name
    }
  }

  // One guard for each listener and event, so that off() can find it.
  #guard(name: string, listener: Listener): GuardedListener {
    const guards = this.#guarded.get(listener) ?? {};
    this.#guarded.set(listener, guards);
    const known = guards[name];
    if (known) {
      return known;
    }
    const report = (error: unknown) => {
      this.#write('error', 'postreel: a listener threw', { error });
      const message = `A listener of \`${name}\` threw (${errorNameOf(error)}), so its own work for this event was skipped. The call continues.`;
      if (name === 'warning' && !this.#failed.has(listener)) {
        printWarning(message); // this listener may be the only one for `warning`
      }
      this.#warnOnce(listener, message);
    };
    const listen = listener as (event: unknown) => unknown; // as: typed by the client
    const guarded = (event: unknown) => callSafely(() => listen(event), report);
    guards[name] = guarded;
    return guarded;
  }

  #log(name: string, event: unknown): void {
    if (!this.#logger) {
      return;
    }
    const level = levels[name] ?? 'debug';
    const facts = level === 'debug' ? (event as object) : omitErrorMessage(event as object); // as: objects
    const { method = '', path = '' } = facts as { method?: string; path?: string };
    this.#write(level, `postreel: ${name} ${method} ${path}`.trimEnd(), facts);
  }

  #write(level: keyof Logger, line: string, facts: object): void {
    // A failing logger must not break a call.
    callSafely(
      () => this.#logger?.[level]?.(line, facts),
      (error) =>
        this.#warnOnce(
          this.#logger,
          `The logger failed (${errorNameOf(error)}). Calls continue, but some of their events are not logged.`,
        ),
    );
  }

  #warnOnce(source: object | undefined, message: string): void {
    if (source === undefined || this.#failed.has(source)) {
      return;
    }
    this.#failed.add(source);
    this.emit('warning', { method: '', path: '', message }); // as: every map has this event
  }
}

// Names only the class of the error: its message may contain anything, including the event's secrets.
function errorNameOf(error: unknown): string {
  return isError(error) ? error.name : typeof error;
}

const levels: Readonly<Record<string, keyof Logger>> = {
  warning: 'warn',
  mismatch: 'warn',
  retry: 'info',
  throttled: 'info',
};

/** Removes the error's message, in which a service may repeat an email address: only `debug` logs it. */
function omitErrorMessage(event: object): object {
  const { error } = event as { error?: PostreelError }; // as: of a retry event
  if (error === undefined) {
    return event;
  }
  const { name, code, status, outcome, requestId } = error;
  return { ...event, error: { name, code, status, outcome, requestId } };
}

const printed = new Set<string>();
const maxRemembered = 1000;

/** Prints a warning that has no listener, once per message; on Node as a process warning. */
function printWarning(message: string): void {
  if (printed.has(message) || printed.size >= maxRemembered) {
    return;
  }
  printed.add(message);
  const { process } = globalThis as {
    process?: { emitWarning?: (message: string, type: string) => void };
  }; // as: not every runtime has it
  if (typeof process?.emitWarning === 'function') {
    process.emitWarning(message, 'PostreelWarning');
  } else {
    console.warn(`postreel: ${message}`);
  }
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** The given logger, or the console if `POSTREEL_LOG` asks for it. */
export function loggerOf(given: Logger | undefined): Logger | undefined {
  if (given !== undefined && given !== console) {
    return given;
  }
  const asked = given ? 'debug' : readEnvironment('POSTREEL_LOG');
  const lowest = logLevels.findIndex((level) => level === asked);
  return lowest < 0 ? undefined : createConsoleLogger(logLevels.slice(lowest));
}

// A console would spread the facts of each event over many lines, so they are written as one line.
function createConsoleLogger(wanted: readonly (typeof logLevels)[number][]): Logger {
  const write = (level: (typeof logLevels)[number]) => (message: string, facts?: object) => {
    console[level](message + formatFacts(facts));
  };
  return Object.fromEntries(wanted.map((level) => [level, write(level)]));
}

function formatFacts(facts: object = {}): string {
  return Object.entries(facts)
    .filter(([name, value]) => value !== undefined && name !== 'method' && name !== 'path')
    .map(([name, value]) => ` ${name}=${formatValue(value)}`)
    .join('');
}

function formatValue(value: unknown): string {
  if (isError(value)) {
    return `"${value.message}"`;
  }
  return typeof value === 'number' ? String(Math.round(value)) : JSON.stringify(value);
}
