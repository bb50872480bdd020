import type { Clock } from '../../core/async.js';
import type { Call, RequestOptions } from '../../core/types.js';
import { isIdNumber, isRecord } from '../../core/values.js';
import type { MediaFile } from './file.js';
import type { StatusRecord, TextRange } from '../generate/types.js';
import type { FileKind } from '../status/intervals.js';
import type { FileUpdate, WaitOptions } from '../status/wait-options.js';
import { watch } from '../status/watch.js';

/** What it takes to find a job again, e.g. after a restart. */
export interface JobRecord {
  fileId: string;
  kind: FileKind;
  folderId?: string | undefined;
  /** Which part of a long text it speaks. */
  part?: TextRange | undefined;
}

/** What a job asks of its client. */
export interface JobHost {
  /** The address of the editor, without a slash at its end; `undefined` when not configured. */
  readonly appUrl: string | undefined;
  status(fileId: string, options?: RequestOptions): Call<StatusRecord>;
  waitForFile(fileId: string, options?: WaitOptions): Promise<MediaFile>;
}

/** A video or audio that is being made. */
export class GenerationJob {
  readonly fileId: string;
  readonly kind: FileKind;
  /** The folder of a video. */
  readonly folderId: string | undefined;
  /** Which part of the text it speaks; `undefined` unless `generate.longAudio()` submitted it. */
  readonly part: TextRange | undefined;
  /** Where to open the file in the editor; `undefined` without the client's `appUrl`. */
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
    return this.#host.waitForFile(this.fileId, options);
  }

  /** Checks the status of the job at intervals and yields each update, up to the last one. */
  watch(options?: WaitOptions): AsyncIterableIterator<FileUpdate> {
    return watch((own) => this.waitForFile(own), options);
  }

  /** What `media.job()` needs to find the job again. */
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

/** Remembers the jobs that this client made, so that a wait knows what it waits for. */
export class JobMemory {
  readonly #clock: Clock;
  readonly #jobs = new Map<string, { kind: FileKind; madeAt: number }>();

  /** The age of a job is measured by the clock that its waits use. */
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

  /** The kind and age of a job, as far as they are known. */
  recall(fileId: string): { kind: FileKind | undefined; ageMs: number | undefined } {
    const job = this.#jobs.get(fileId);
    return { kind: job?.kind, ageMs: job && this.#clock.now() - job.madeAt };
  }
}

/** Does an answer that says no carry the ids of jobs all the same? Then it is not a no. */
export function carriesIds(answer: unknown): boolean {
  const body = bodyOf(answer);
  const ids: unknown[] = [body['fileId']];
  for (const list of [body['filesCreated'], body['fileIds'], body['files']]) {
    ids.push(...(Array.isArray(list) ? (list as unknown[]) : []));
  }
  return ids.some((id) => recordOf(id, 'video', undefined) !== null);
}

/** The fields of an answer, with or without the envelope that the document shows. */
export function bodyOf(answer: unknown): Record<string, unknown> {
  const body = isRecord(answer) ? answer : {};
  return isRecord(body['data']) ? { ...body, ...body['data'] } : body;
}

/** The record of a job from what stands for its id: a text, a number, or an object that has it. */
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

/** An id, as text. */
export function idOf(value: unknown): string | undefined {
  if (isIdNumber(value)) {
    return String(value);
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}
