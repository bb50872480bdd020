import { TimeoutError } from '../../errors/index.js';
import { onAbort } from '../../async/abort.js';
import { longestDelayMs } from '../../async/timers.js';

/** Ends a connection when nothing is heard of it for too long, or when the caller gives it up. */
export class IdleTimeout {
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, caller: AbortSignal | undefined) {
    const end = () => {
      const message = `Nothing came for ${limitMs} ms.`;
      this.#controller.abort(new TimeoutError(message, { code: 'DOWNLOAD_SILENT' }));
    };
    this.#timer = setTimeout(end, Math.min(limitMs, longestDelayMs));
    this.#stopListening = onAbort(caller, () => this.#controller.abort(caller?.reason));
  }

  /** Aborts when the connection shall end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The connection is alive: its time starts over. */
  heard(): void {
    this.#timer.refresh();
  }

  /** Lets go of everything, the connection included. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stopListening();
    this.#controller.abort();
  }
}
