import { onAbort, type Clock } from '../../core/async.js';
import { TimeoutError } from '../../core/errors.js';

/** Ends a connection when it sends nothing for too long, or when the caller aborts. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #limitMs: number;
  readonly #stopListening: () => void;
  readonly #clock: Clock;
  #stopTimer: () => void = () => undefined;

  constructor(limitMs: number, caller: AbortSignal | undefined, clock: Clock) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#stopListening = onAbort(caller, () => this.#controller.abort(caller?.reason));
  }

  /** Aborts when the connection must end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts the timer again: the download waits for the server. */
  start(): void {
    this.pause();
    this.#stopTimer = this.#clock.limit(this.#limitMs, () => this.#end());
  }

  /** Stops the timer: the download waits for something else, such as a slow disk. */
  pause(): void {
    this.#stopTimer();
  }

  /** Stops the timer and the listener, and ends the connection. */
  stop(): void {
    this.pause();
    this.#stopListening();
    this.#controller.abort();
  }

  #end(): void {
    const message = `The server sent nothing for ${this.#limitMs} ms.`;
    this.#controller.abort(new TimeoutError(message, { code: 'DOWNLOAD_SILENT' }));
  }
}
