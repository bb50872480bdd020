import { invalidRequest, NotFoundError } from '../../core/errors.js';
import { callSite, locate } from '../../core/call/call.js';
import { normalizeBaseUrl } from '../../core/settings.js';
import type { Call, RequestOptions } from '../../core/types.js';
import { kindOf } from '../../core/values.js';
import type { StatusRecord } from '../generate/types.js';
import type { MediaFile } from '../jobs/file.js';
import type { JobHost, JobMemory } from '../jobs/job.js';
import type { ClientSlots } from '../submit/slots.js';
import type { FileKind } from './intervals.js';
import { FileWait, type WaitParts } from './wait.js';
import { readWaitOptions, type WaitOptions } from './wait-options.js';

/** The parts of the client that `FileWaits` uses. */
export interface FileWaitsParts extends WaitParts {
  readonly memory: JobMemory;
  readonly slots: ClientSlots;
}

/** The waits of one client for its files. The handles of jobs use it. */
export class FileWaits implements JobHost {
  readonly appUrl: string | undefined;
  readonly #parts: FileWaitsParts;

  constructor(parts: FileWaitsParts) {
    const { appUrl } = parts.connection.options;
    this.appUrl = appUrl === undefined ? undefined : normalizeBaseUrl(appUrl, '`appUrl`');
    this.#parts = parts;
  }

  /** Checks the status of a file once. */
  status(fileId: string, options: RequestOptions | undefined): Call<StatusRecord> {
    return this.#parts.poller.request({ fileId }, options);
  }

  /** Waits for a file. The stack of its error begins at the line of the caller. */
  wait(fileId: string, kind: FileKind | undefined, options?: WaitOptions): Promise<MediaFile> {
    const site = callSite();
    return this.#wait(fileId, kind, options).catch((reason: unknown) => {
      const failure = reason instanceof NotFoundError ? this.#gone(fileId, reason) : reason;
      locate(failure, site, 'outer call');
      throw failure;
    });
  }

  #gone(fileId: string, failure: NotFoundError): NotFoundError {
    const { connection, ledger, slots } = this.#parts;
    slots.noteStatus(fileId, true);
    const isInJournal = ledger?.hasRead(fileId) ?? false;
    const { baseUrl } = connection.settings;
    return isInJournal ? unknownToService(fileId, baseUrl, failure) : failure;
  }

  async #wait(
    fileId: string,
    kind: FileKind | undefined,
    options: WaitOptions | undefined,
  ): Promise<MediaFile> {
    if (typeof fileId !== 'string' || fileId === '') {
      const given = typeof fileId === 'string' ? 'an empty one' : kindOf(fileId);
      const isLost = (fileId as unknown) === undefined; // `job.fileId`, where `job` is a list of jobs
      const hint = isLost
        ? ': did it come from a list of jobs?'
        : Array.isArray(fileId)
          ? ': wait for several with `waitForFiles()`'
          : '';
      throw invalidRequest([
        { field: 'fileId', message: `must be the id of a file; got ${given}${hint}` },
      ]);
    }
    const own = readWaitOptions(options);
    const known = this.#parts.memory.recall(fileId);
    const awaited = { fileId, kind: kind ?? known.kind, ageMs: known.ageMs };
    return new FileWait(awaited, this.#parts, own).run();
  }
}

/** The error of a file that is in the journal, but that the service does not know. */
function unknownToService(fileId: string, baseUrl: string, cause: NotFoundError): NotFoundError {
  const { status, method, path, requestId } = cause;
  return new NotFoundError(
    `The service at ${baseUrl} does not know the file ${fileId}, which is in the journal. Was the journal written with another service or account, or with a fake that was restarted? Then use another journal, or \`media.journal.dismiss('${fileId}')\` and another \`name\` or \`once\`.`,
    { code: 'FILE_UNKNOWN', outcome: 'rejected', status, method, path, requestId, cause },
  );
}
