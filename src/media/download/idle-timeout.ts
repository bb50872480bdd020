import { onAbort, type Clock } from '../../core/async.js';
import { TimeoutError } from '../../core/errors.js';

/** Ends a connection that sends nothing for too long, or that the caller gives up. */
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

  /** Aborts when the connection is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for the server: its time starts over. */
  start(): void {
    this.pause();
    this.#stopTimer = this.#clock.limit(this.#limitMs, () => this.#end());
  }

  /** Waits for something else, such as a slow disk. */
  pause(): void {
    this.#stopTimer();
  }

  /** Lets go of everything, the connection included. */
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
