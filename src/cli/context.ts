import type { MediaClient, MediaOptions } from 'postreel/media';
import type { MessagingClient, MessagingOptions } from 'postreel/messaging';
import {
  exportVariables,
  nameVariables,
  variablesOf,
  removeKeys,
  type Environment,
} from './environment.js';
import type { Output, Streams } from './output.js';

/** The parts of a {@link Context}. */
export interface ContextParts {
  readonly environment: Environment;
  /** The reason why the settings of this folder cannot be read; thrown by the commands that need them. */
  readonly environmentProblem?: Error | undefined;
  readonly streams: Streams;
  /** Aborts on Ctrl+C. */
  readonly signal: AbortSignal;
  readonly output: Output;
}

/** The context in which every command runs. */
export class Context implements ContextParts {
  readonly environment: Environment;
  readonly environmentProblem: Error | undefined;
  readonly streams: Streams;
  readonly signal: AbortSignal;
  /** Set before a command starts, since the command line decides how to write. */
  output: Output;

  constructor(parts: ContextParts) {
    this.environment = parts.environment;
    this.environmentProblem = parts.environmentProblem;
    this.streams = parts.streams;
    this.signal = parts.signal;
    this.output = parts.output;
  }

  /** Creates a client of the messaging service from the environment. Loads its code only now. */
  async messaging(
    options: Pick<MessagingOptions, 'journal' | 'fetch'> = {},
  ): Promise<MessagingClient> {
    this.#assertReadable();
    const { MessagingClient } = await import('postreel/messaging');
    const client = this.#create('messaging', () => new MessagingClient(options));
    client.on('warning', ({ message }) => this.warn(message));
    client.on('throttled', ({ waitMs }) => this.#sayWait(waitMs));
    return client;
  }

  /** Creates a client of the media service from the environment. Loads its code only now. */
  async media(options: Pick<MediaOptions, 'journal' | 'fetch'> = {}): Promise<MediaClient> {
    this.#assertReadable();
    const { MediaClient } = await import('postreel/media');
    const client = this.#create('media', () => new MediaClient(options));
    client.on('warning', ({ message }) => this.warn(message));
    client.on('throttled', ({ waitMs }) => this.#sayWait(waitMs));
    return client;
  }

  /** Lets a client read its address and key from the environment, which its errors then name. */
  #create<Client>(service: 'messaging' | 'media', create: () => Client): Client {
    exportVariables(this.environment, variablesOf(service));
    try {
      return create();
    } catch (error) {
      throw nameVariables(error, service, this.environment);
    }
  }

  #assertReadable(): void {
    if (this.environmentProblem) {
      throw this.environmentProblem;
    }
  }

  /** Writes a warning to stderr, apart from the result. */
  warn(message: string): void {
    const text = removeKeys(message, this.environment);
    this.output.note(`${this.output.paintNote('yellow', 'warning:')} ${text}`);
  }

  #sayWait(waitMs: number): void {
    const seconds = Math.ceil(waitMs / 1000);
    if (seconds > 1) {
      this.output.note(this.output.paintNote('dim', `waiting ${seconds} s for the rate limit`));
    }
  }
}
