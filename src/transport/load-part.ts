import { ConfigurationError } from '../errors/index.js';

/**
 * Loads a part of the package that few programs need. A deploy may have replaced the file, or the
 * network may be gone: that is an error of its own, and the next call tries again.
 */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    throw new ConfigurationError(
      'A part of the package could not be loaded, so nothing was sent. Reload the page or restart the process, and try again.',
      { code: 'PART_MISSING', outcome: 'not-sent', cause },
    );
  }
}

/** A part that is loaded once and then used without waiting. */
export class LazyPart<Part> {
  readonly #load: () => Promise<Part>;
  #part: Part | undefined;

  constructor(load: () => Promise<Part>) {
    this.#load = load;
  }

  /** The part, once it is loaded. */
  get loaded(): Part | undefined {
    return this.#part;
  }

  /** Each caller waits for himself: some runtimes let no request wait for another one's promise. */
  async load(): Promise<Part> {
    this.#part ??= await loadPart(this.#load);
    return this.#part;
  }
}
