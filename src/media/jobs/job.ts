import type { Clock } from '../../core/async.js';
import type { Call, RequestOptions } from '../../core/types.js';
import { isRecord } from '../../core/values.js';
import type { MediaFile } from './file.js';
import type { StatusRecord, TextRange } from '../generate/types.js';
import type { FileKind } from '../status/intervals.js';
import type { FileUpdate, WaitOptions } from '../status/wait-options.js';
import { watch } from '../status/watch.js';

/** The data that finds a job again, e.g. after a restart. */
export interface JobRecord {
  fileId: string;
  kind: FileKind;
  folderId?: string | undefined;
  /** The range of the long text that the job speaks. */
  part?: TextRange | undefined;
}

/** The part of the client that a job uses. */
export interface JobHost {
  /** The address of the editor, without a slash at its end; `undefined` when not configured. */
  readonly appUrl: string | undefined;
  status(fileId: string, options: RequestOptions | undefined): Call<StatusRecord>;
  wait(fileId: string, kind: FileKind, options: WaitOptions | undefined): Promise<MediaFile>;
}

/** A video or audio that is being made. */
export class GenerationJob {
  readonly fileId: string;
  readonly kind: FileKind;
  /** The folder of a video. */
  readonly folderId: string | undefined;
  /** The range of the text that the job speaks; `undefined` unless `generate.longAudio()` submitted it. */
  readonly part: TextRange | undefined;
  /** The address of the file in the editor; `undefined` without the client's `appUrl`. */
  readonly editorUrl: string | undefined;
  readonly #host: JobHost;

  constructor({ fileId, kind, folderId, part }: JobRecord, host: JobHost) {
    this.fileId = fileId;
    this.kind = kind;
    this.folderId = folderId;
    this.part = part;
    this.editorUrl =
      host.appUrl === undefined ? undefined : `${host.appUrl}/editor/${encodeURIComponent(fileId)}`;
    this.#host = host;
  }

  /** Checks the status of the job once. */
  status(options?: RequestOptions): Call<StatusRecord> {
    return this.#host.status(this.fileId, options);
  }

  /** Waits until the file is finished. */
  waitForFile(options?: WaitOptions): Promise<MediaFile> {
    return this.#host.wait(this.fileId, this.kind, options);
  }

  /** Checks the status of the job at intervals and yields each update, up to the last one. */
  watch(options?: WaitOptions): AsyncIterableIterator<FileUpdate> {
    return watch((own) => this.waitForFile(own), options);
  }

  /** The data that `media.job()` needs to find the job again. */
  toJSON(): JobRecord {
    const { fileId, kind, folderId, part } = this;
    return {
      fileId,
      kind,
      ...(folderId !== undefined && { folderId }),
      ...(part !== undefined && { part }),
    };
  }
}

const maxJobs = 10_000;

/** Remembers the kind and age of the jobs that this client made: a wait chooses its intervals by them. */
export class JobMemory {
  readonly #clock: Clock;
  readonly #jobs = new Map<string, { kind: FileKind; madeAt: number }>();

  /** @param clock - The clock that the waits use, too: it measures the age of the jobs. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(fileId: string, kind: FileKind): void {
    this.#jobs.set(fileId, { kind, madeAt: this.#clock.now() });
    if (this.#jobs.size <= maxJobs) {
      return;
    }
    const [oldest] = this.#jobs.keys();
    if (oldest !== undefined) {
      this.#jobs.delete(oldest);
    }
  }

  /** The kind and age of a job; both are `undefined` for a job that this client did not make. */
  recall(fileId: string): { kind: FileKind | undefined; ageMs: number | undefined } {
    const job = this.#jobs.get(fileId);
    return { kind: job?.kind, ageMs: job && this.#clock.now() - job.madeAt };
  }
}

/** Does an error response contain the ids of jobs? Then the service did accept them. */
export function hasJobIds(answer: unknown): boolean {
  const body = bodyOf(answer);
  const ids: unknown[] = [body['fileId']];
  for (const list of [body['filesCreated'], body['fileIds'], body['files']]) {
    ids.push(...(Array.isArray(list) ? (list as unknown[]) : []));
  }
  return ids.some((id) => recordOf(id, 'video', undefined) !== null);
}

/** The fields of a response body, with or without the `data` envelope that the document shows. */
export function bodyOf(answer: unknown): Record<string, unknown> {
  const body = isRecord(answer) ? answer : {};
  return isRecord(body['data']) ? { ...body, ...body['data'] } : body;
}

/** Reads the record of a job from its id: a text, a number, or an object that contains the id. */
export function recordOf(
  item: unknown,
  kind: JobRecord['kind'],
  folderId: string | undefined,
): JobRecord | null {
  const fileId = idOf(isRecord(item) ? (item['fileId'] ?? item['id']) : item);
  if (fileId === undefined) {
    return null;
  }
  return kind === 'video' ? { fileId, kind, folderId } : { fileId, kind };
}

/**
 * Reads an id of a paid job as text; `undefined` when the value is not an id. Ids are strings, but the file of
 * a numeric one would be lost without it. A number beyond 2^53 has been rounded, so it names another file.
 */
export function idOf(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) {
    return String(value);
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}
