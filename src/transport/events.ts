import { EventEmitter } from 'eventemitter3';
import type { ClientEvents, Logger } from '../contract/events.js';

type Listener = (event: never) => void;

/** The events of one client. A listener that throws harms nobody but itself. */
export class Events<Map extends ClientEvents> {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  on(name: keyof Map & string, listener: Listener): void {
    this.#emitter.on(name, listener as (event: unknown) => void); // the client's signature is typed
  }

  once(name: keyof Map & string, listener: Listener): void {
    this.#emitter.once(name, listener as (event: unknown) => void); // the client's signature is typed
  }

  off(name: keyof Map & string, listener: Listener): void {
    this.#emitter.off(name, listener as (event: unknown) => void); // the client's signature is typed
  }

  emit<Name extends keyof Map & string>(name: Name, event: Map[Name]): void {
    this.#log(name, event);
    if (this.#emitter.listenerCount(name) === 0) return;
    try {
      this.#emitter.emit(name, event);
    } catch (error) {
      this.#logger?.error?.(`postreel: a listener of "${name}" threw`, { error });
    }
  }

  #log(name: string, event: unknown): void {
    const logger = this.#logger;
    if (!logger) return;
    const { method = '', path = '' } = event as { method?: string; path?: string }; // events are objects
    const line = `postreel: ${name} ${method} ${path}`.trimEnd();
    if (name === 'warning' || name === 'mismatch') logger.warn?.(line, event as object);
    else if (name === 'retry' || name === 'throttled') logger.info?.(line, event as object);
    else logger.debug?.(line, event as object);
  }
}
