import type { Call, RequestOptions } from '../../contract/call.js';
import type { NamesOf } from '../../contract/methods.js';
import { UnexpectedResponseError } from '../../errors/index.js';
import type { Transport } from '../../transport/transport.js';
import type { GenerationJob, JobRecord } from '../job.js';
import { routes } from './routes.js';
import type {
  AudioRequest,
  StatusQuery,
  StatusRecord,
  VideoAccepted,
  VideoRequest,
} from './types.js';

/**
 * Makes videos and speech. A call only hands in the job; waiting for the file comes after.
 * @example
 * const [job] = await media.generate.video({
 *   payload: [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Why cats purr', voiceId: 'voice_1' }],
 * });
 * const file = await job.waitForFile();
 */
export class Generate implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #adopt: (record: JobRecord) => GenerationJob;

  constructor(transport: Transport, adopt: (record: JobRecord) => GenerationJob) {
    this.#transport = transport;
    this.#adopt = adopt;
  }

  /**
   * Hands in one or many videos and resolves to one job for each, in submitted order. Never sent
   * twice: after an `'unknown'` outcome the videos may be in the making.
   */
  video(body: VideoRequest, options?: RequestOptions): Call<GenerationJob[]> {
    const call = this.#transport.send(routes.video, { body }, options);
    return call.map((accepted) => this.#videoJobs(accepted, body.payload.length));
  }

  /** Hands in a text to speak and resolves to its job. Never sent twice. */
  audio(body: AudioRequest, options?: RequestOptions): Call<GenerationJob> {
    const call = this.#transport.send(routes.audio, { body }, options);
    return call.map(({ fileId }) => {
      if (typeof fileId !== 'string' || fileId === '') throw lost('audio', 'no file id', []);
      return this.#adopt({ fileId, kind: 'audio' });
    });
  }

  /** Looks at a file's status once. */
  status(query: StatusQuery, options?: RequestOptions): Call<StatusRecord> {
    return this.#transport.send(routes.status, { query, isPoll: true }, options);
  }

  #videoJobs({ filesCreated, folderId }: VideoAccepted, wanted: number): GenerationJob[] {
    const ids = Array.isArray(filesCreated) ? filesCreated : [];
    if (ids.length < wanted) throw lost('video', `${ids.length} file ids for ${wanted} jobs`, ids);
    return ids.map((fileId) => this.#adopt({ fileId, kind: 'video', folderId }));
  }
}

// The ids that do exist are paid for: they must not get lost with the error.
function lost(
  kind: 'video' | 'audio',
  what: string,
  ids: readonly string[],
): UnexpectedResponseError {
  const known = ids.length === 0 ? '' : ` The files that exist: ${ids.join(', ')}.`;
  return Object.assign(
    new UnexpectedResponseError(`POST /v1/generate/${kind} was answered with ${what}.${known}`, {
      code: 'FILE_IDS_MISSING',
      method: 'POST',
      path: `/v1/generate/${kind}`,
      outcome: 'unknown',
    }),
    { fileIds: ids },
  );
}
