import { hasIoContexts } from '../../core/runtime.js';
import { isCanceled, stageOf, statusOf } from '../../core/job-status.js';
import { invalidRequest, NotFoundError } from '../../core/errors.js';
import { callSite, locate } from '../../core/call/call.js';
import { kindOf } from '../../core/values.js';
import type { Settings } from '../../core/settings.js';
import type { Events } from '../../core/events.js';
import type { MediaEvents } from '../events.js';
import { MediaFile } from '../jobs/file.js';
import type { JobMemory } from '../jobs/job.js';
import type { JobLedger } from '../jobs/ledger.js';
import * as notices from '../notices.js';
import { countedIntervalMs } from './counted-poller.js';
import type { FileKind } from './intervals.js';
import type { StatusPoller } from './poller.js';
import { waitForFile, type WaitSource } from './wait.js';
import { readWaitOptions, type FileUpdate, type WaitOptions } from './wait-options.js';

/** The dependencies of `FileWaits`. */
export interface WaitParts {
  readonly poller: StatusPoller;
  readonly memory: JobMemory;
  readonly events: Events<MediaEvents>;
  readonly settings: Pick<Settings, 'fetch' | 'clock' | 'baseUrl'>;
  readonly ledger: JobLedger | undefined;
  /** Removes API keys from a text that the service wrote. */
  readonly clean: (text: string) => string;
  /** Called when the service does not know a file. */
  readonly onGone: (fileId: string) => void;
}

/** The waits of one client for its files. */
export class FileWaits {
  readonly #parts: WaitParts;
  readonly #source: WaitSource<MediaFile>;

  constructor(parts: WaitParts) {
    const { poller, events, clean, settings } = parts;
    this.#parts = parts;
    this.#source = {
      clock: settings.clock,
      checkStatus: (fileId, maxAgeMs, signal) => poller.checkStatus(fileId, maxAgeMs, signal),
      // On Workers each request has an I/O context: one request must not end the wait of another.
      onEnd: (fileId, listener) =>
        hasIoContexts() ? () => undefined : poller.onEnd(fileId, listener),
      clean,
      finished: (fileId, url) => this.file(fileId, url),
      onUpdate: (update) => this.report(update),
      onInboxFailure: (fileId, error) => notices.noInbox(events, fileId, error),
      onUnknown: (fileId, status) => notices.unknownStatus(events, fileId, status),
      get minDelayMs() {
        return poller.areChecksCharged ? countedIntervalMs : 0;
      },
    };
  }

  /** Waits for a file. `report()` writes into the journal how the file ended. */
  wait(fileId: string, kind: FileKind | undefined, options?: WaitOptions): Promise<MediaFile> {
    const site = callSite();
    return this.#wait(fileId, kind, options).catch((reason: unknown) => {
      const failure = reason instanceof NotFoundError ? this.#gone(fileId, reason) : reason;
      locate(failure, site, 'outer call');
      throw failure;
    });
  }

  #gone(fileId: string, failure: NotFoundError): NotFoundError {
    const { ledger, settings, onGone } = this.#parts;
    onGone(fileId);
    const isOfJournal = ledger?.hasRead(fileId) ?? false;
    return isOfJournal ? unknownToService(fileId, settings.baseUrl, failure) : failure;
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
    return waitForFile(awaited, this.#source, own);
  }

  /** Creates a finished file. When its URL has expired, a status check gets a new one. */
  file(fileId: string, url: string): MediaFile {
    const { poller, settings } = this.#parts;
    const freshUrl = async (signal: AbortSignal | undefined) => {
      const { download } = await poller.checkStatus(
        fileId,
        0,
        signal ?? new AbortController().signal,
      );
      return download;
    };
    const { fetch, clock } = settings;
    return new MediaFile(fileId, url, { fetch, clock, freshUrl });
  }

  /** Emits `job:update` for a status check, and writes into the journal how a file ended. */
  report(update: FileUpdate): void {
    const { events, ledger } = this.#parts;
    events.emit('job:update', update);
    const status = statusOf(update.raw);
    const stage = stageOf(status);
    if (stage !== 'active') {
      ledger?.finish(update.fileId, isCanceled(status) ? 'canceled' : stage);
    }
  }
}

/** The error of a file that is in the journal, but that the service does not know. */
function unknownToService(fileId: string, baseUrl: string, cause: NotFoundError): NotFoundError {
  const { status, method, path, requestId } = cause;
  return new NotFoundError(
    `The service at ${baseUrl} does not know the file ${fileId}, which stands in the journal. Was the journal written with another service or account, or with a fake that was restarted? Then use another journal, or \`media.journal.dismiss('${fileId}')\` and another \`name\` or \`once\`.`,
    { code: 'FILE_UNKNOWN', outcome: 'rejected', status, method, path, requestId, cause },
  );
}
