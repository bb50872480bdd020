import type { Call, RequestOptions } from '../../contract/call.js';
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
  watch(options: WaitOptions = {}): AsyncIterableIterator<FileUpdate> {
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
