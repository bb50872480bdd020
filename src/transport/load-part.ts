import { ConfigurationError } from '../errors/index.js';

/** What a part is for: to send, or to follow and read what may have been sent before. */
type Purpose = 'send' | 'follow';

const lost = {
  send: { what: ', so nothing was sent', outcome: 'not-sent' },
  // Nothing is said of the outcome: who took this for a send that failed would send again.
  follow: { what: '. What was sent before goes on', outcome: undefined },
} as const;

/**
 * Loads a part of the package that few programs need. A deploy may have replaced the file, or the
 * network may be gone: that is an error of its own, and the next call tries again.
 */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  purpose: Purpose = 'send',
): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    const { what, outcome } = lost[purpose];
    throw new ConfigurationError(
      `A part of the package could not be loaded${what}. Reload the page or restart the process, and try again.`,
      { code: 'PART_MISSING', outcome, cause },
    );
  }
}

/** A part that is loaded once and then used without waiting. */
export class LazyPart<Part> {
  readonly #load: () => Promise<Part>;
  readonly #purpose: Purpose | undefined;
  #part: Part | undefined;

  constructor(load: () => Promise<Part>, purpose?: Purpose) {
    this.#load = load;
    this.#purpose = purpose;
  }

  /** The part, once it is loaded. */
  get loaded(): Part | undefined {
    return this.#part;
  }

  /** Each caller waits for himself: some runtimes let no request wait for another one's promise. */
  async load(): Promise<Part> {
    this.#part ??= await loadPart(this.#load, this.#purpose);
    return this.#part;
  }
}
