import type { Call, RequestOptions } from '../contract/call.js';
import type { ClientOptions } from '../contract/client-options.js';
import type { Method } from '../contract/route.js';
import { schemaMap } from '../contract/schema-map.js';
import { createSpacing, type Spacing } from '../polling/spacing.js';
import type { ApiKey } from '../transport/auth.js';
import { Connection } from '../transport/connection.js';
import type { FreeInput } from '../transport/free-request.js';
import type { RateLimit } from '../transport/rate-limit.js';
import type { ServiceFacts } from '../transport/settings.js';
import { normalizeBaseUrl } from '../transport/url.js';
import type { MediaEvents } from './events.js';
import { MediaFile } from './file.js';
import { Generate } from './generate/resource.js';
import { GenerationJob, type JobRecord } from './job.js';
import { JobMemory } from './job-memory.js';
import type { FileKind } from './pace.js';
import type { WaitOptions } from './wait-options.js';
import { routes } from './routes.js';
import { waitForFile, type WaitSource } from './wait.js';

/** Options of a {@link MediaClient}. */
export interface MediaOptions extends ClientOptions {
  /**
   * The key, or a function that fetches one.
   * @default the environment's MEDIA_API_KEY
   */
  apiKey?: ApiKey | undefined;
  /** The application's address, for `job.editorUrl`. */
  appUrl?: string | undefined;
}

const service: ServiceFacts = {
  name: 'media',
  environment: { apiKey: 'MEDIA_API_KEY', baseUrl: 'MEDIA_BASE_URL' },
  keyPrefixes: [],
  // "10 requests per 10 minutes per API key" (Limits)
  limit: 10,
  windowMs: 600_000,
  alwaysJson: true,
};

/**
 * The client of the media service.
 * @example
 * const media = new MediaClient({ apiKey, baseUrl: 'https://media.example.com' });
 * const job = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
 * const file = await job.waitForFile();
 */
export class MediaClient {
  /** Hands in videos and speech. */
  readonly generate: Generate;
  /** How much of the rate limit is left. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connection<MediaEvents>;
  readonly #spacing: Spacing = createSpacing();
  readonly #memory = new JobMemory();
  readonly #appUrl: string | undefined;

  constructor(options: MediaOptions = {}) {
    this.#connection = new Connection(service, options, loadSchemas);
    const { transport } = this.#connection;
    this.#appUrl = options.appUrl === undefined ? undefined : normalizeBaseUrl(options.appUrl);
    this.generate = new Generate(transport, (record) => this.#adopt(record));
    this.rateLimit = { state: () => transport.rateLimit() };
  }

  /** Finds a job again, from what `JSON.stringify(job)` kept of it. */
  job(record: JobRecord): GenerationJob {
    return new GenerationJob(record, {
      appUrl: this.#appUrl,
      status: (fileId, options) => this.generate.status({ fileId }, options),
      waitForFile: (fileId, options) => this.#wait(fileId, record.kind, options),
    });
  }

  /**
   * Waits until a file is finished. A failed or canceled one rejects with its own error, and a
   * wait that takes too long with a `WaitTimeoutError`, while the job goes on.
   */
  waitForFile(fileId: string, options: WaitOptions = {}): Promise<MediaFile> {
    return this.#wait(fileId, undefined, options);
  }

  /**
   * Calls an endpoint that has no method here yet. The path is used as it is: encode what you put
   * into it. GET, PUT and DELETE are repeated where that is needed, POST and PATCH are not.
   */
  request<Result = unknown>(
    method: Method,
    path: string,
    input?: FreeInput,
    options?: RequestOptions,
  ): Call<Result> {
    return this.#connection.transport.request(method, path, input, options) as Call<Result>; // the caller's word
  }

  /** A client with other options that shares this one's events, session and rate budget. */
  with(options: MediaOptions): MediaClient {
    return new MediaClient(this.#connection.derive(options));
  }

  /** Listens to what the client does. */
  on<Name extends keyof MediaEvents>(
    name: Name,
    listener: (event: MediaEvents[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Listens to the next event of that name only. */
  once<Name extends keyof MediaEvents>(
    name: Name,
    listener: (event: MediaEvents[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Stops listening. */
  off<Name extends keyof MediaEvents>(
    name: Name,
    listener: (event: MediaEvents[Name]) => void,
  ): this {
    this.#connection.events.off(name, listener);
    return this;
  }

  #adopt(record: JobRecord): GenerationJob {
    this.#memory.add(record.fileId, record.kind);
    return this.job(record);
  }

  #wait(fileId: string, kind: FileKind | undefined, options: WaitOptions = {}): Promise<MediaFile> {
    const known = this.#memory.recall(fileId);
    return waitForFile(
      { fileId, kind: kind ?? known.kind, ageMs: known.ageMs },
      this.#waits,
      options,
    );
  }

  // A wait repeats a failed look itself.
  get #waits(): WaitSource<MediaFile> {
    const { events, settings } = this.#connection;
    return {
      look: (fileId, signal) =>
        this.#spacing(() => this.generate.status({ fileId }, { signal, retries: 0 }), signal),
      finished: (fileId, url) => new MediaFile(fileId, url, { fetch: settings.fetch }),
      onUpdate: (update) => events.emit('job:update', update),
    };
  }
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return schemaMap(routes, schemas);
}
