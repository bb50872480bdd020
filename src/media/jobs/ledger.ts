import type { Clock } from '../../core/async.js';
import { fingerprint } from '../../core/values.js';
import type { JobStage } from '../../core/wait.js';
import { ConfigurationError, InvalidRequestError, isPostreelError, PostreelError } from '../../core/errors.js';
import { Ledger, type Accepted, type Claimed, type Known } from '../../journal/ledger.js';
import { nameOf } from '../../journal/names.js';
import type { JournalStore } from '../../journal/store.js';
import { isVideo, type MediaJob } from '../generate/media-job.js';
import type { JobRecord } from './job.js';
import { contentOf } from './job-names.js';

/** A call whose answer was lost: its jobs may have been submitted, and are never sent again. */
export interface UnknownCall {
  readonly id: string;
  /** When it was made. ISO 8601. */
  readonly at: string;
  /** The jobs of it without a file id. */
  readonly jobs: readonly MediaJob[];
}

/** What a journal says about jobs that are not settled. */
export interface PendingJobs {
  /** Jobs that the service took, up to those that are finished and not saved. */
  readonly jobs: readonly JobRecord[];
  /** The jobs among them whose file is finished: save it, then `acknowledge()` it. */
  readonly finished: readonly JobRecord[];
  /** Calls whose answer was lost. */
  readonly unknown: readonly UnknownCall[];
}

/** A job under a key that is used once. */
export interface OnceJob {
  readonly key: string;
  readonly print: string;
  /** The entry that it takes over: a job that failed, and is to be made again. */
  readonly over?: Known | undefined;
}

/** What is known of a key. */
export type Found =
  | { readonly state: 'free'; readonly over: Known | undefined }
  | { readonly state: 'claimed'; readonly ageMs: number }
  | {
      readonly state: 'accepted';
      readonly record: JobRecord;
      /** Has its file come to an end? */
      readonly isOver: boolean;
      readonly isSaved: boolean;
    };

/** What the jobs of one client are written down with. */
export interface JobLedgerParts {
  readonly store: JournalStore;
  /** What tells this project's jobs from those of others in the same store. */
  readonly scope: string;
  readonly clock: Clock;
  /** How long settled jobs are kept, in milliseconds. */
  readonly keepMs: number;
  readonly onTrouble: (message: string) => void;
}

const prefix = 'media/';

/** The jobs of a media client in a journal: each under its key, or under one of its own. */
export class JobLedger {
  readonly #ledger: Ledger;
  readonly #parts: JobLedgerParts;
  /** The entries of files that this client has seen, until they are settled. */
  readonly #files = new Map<string, Map<string, Known<Accepted>>>();

  constructor(parts: JobLedgerParts) {
    const { store, clock, onTrouble } = parts;
    this.#parts = parts;
    const onConflict = (_: string, wanted: Claimed | Accepted | undefined) => {
      // An id is never lost, whoever else has changed its entry meanwhile.
      if (wanted?.state === 'accepted' && wanted.end === undefined) {
        void this.#adopt(wanted.record as JobRecord); // as written
      }
    };
    this.#ledger = new Ledger({ store, clock, onTrouble, prefix, onConflict });
  }

  /** The full key of a job; keys of several projects never meet. */
  keyOf(...once: readonly string[]): string {
    return `${this.#parts.scope}/${nameOf(['once', ...once])}`;
  }

  /** What is known of a job; one that failed is free again where the caller says so. */
  async find({ key, print }: OnceJob, retriesFailed: boolean): Promise<Found> {
    const known = await this.#ledger.find(key);
    if (!known) {
      return { state: 'free', over: undefined };
    }
    const { entry } = known;
    if (entry.print !== print) {
      throw taken();
    }
    if (entry.state === 'claimed') {
      return { state: 'claimed', ageMs: known.ageMs };
    }
    const { end } = entry;
    if (retriesFailed && (end === 'failed' || end === 'canceled')) {
      return { state: 'free', over: known };
    }
    const record = entry.record as JobRecord; // as written
    this.#remember(record.fileId, { ...known, entry });
    return { state: 'accepted', record, isOver: end !== undefined, isSaved: end === 'saved' };
  }

  /** Claims a job for a call that is about to leave; `undefined` when another run was faster. */
  async claim(
    call: string,
    place: number,
    job: MediaJob,
    once: OnceJob | undefined,
  ): Promise<Known<Claimed> | undefined> {
    const id = `${call}-${place}`;
    const { key = this.#own(id), print = printOf(job), over } = once ?? {};
    const claim: Claimed = { state: 'claimed', id, call, place, print, content: job };
    return this.#ledger.claim(key, claim, over);
  }

  /**
   * The service took the jobs of a call; `null` stands for a job without an id, which stays unknown.
   * Resolves once the ids are written, or could not be at the first try.
   */
  async accept(
    claims: readonly Known<Claimed>[],
    records: readonly (JobRecord | null)[],
    unassigned: readonly JobRecord[] = [],
  ): Promise<void> {
    const taken = claims.map((known, place) => {
      const record = records[place];
      const { content: _, ...entry } = known.entry;
      return record && this.#note(record.fileId, known, { ...entry, state: 'accepted', record });
    });
    const others = [...records.slice(claims.length), ...unassigned].map(
      (record) => record && this.#adopt(record),
    );
    await Promise.all([...taken, ...others]);
  }

  /** The call of these jobs certainly made nothing: their keys are free. */
  async release(claims: readonly Known<Claimed>[]): Promise<void> {
    await Promise.all(claims.map((known) => this.#ledger.change(known, undefined).tried));
  }

  /** A file has come to its end. A finished one stays listed until it is saved. */
  finish(fileId: string, end: Exclude<JobStage, 'active'> | 'canceled'): void {
    for (const known of this.#files.get(fileId)?.values() ?? []) {
      // A failure stays one, and so does what the caller has said.
      if (known.entry.end === undefined || (known.entry.end === 'done' && end !== 'done')) {
        void this.#note(fileId, known, { ...known.entry, end });
      }
    }
  }

  /** A file is stored, or of no interest any more: under one key, or wherever it stands. */
  async settle(fileId: string, end: 'saved' | 'dismissed', key?: string): Promise<void> {
    if (!this.#files.has(fileId)) {
      await this.pending(); // knows all files by then
    }
    const all = [...(this.#files.get(fileId)?.values() ?? [])];
    await Promise.all(
      all
        .filter((known) => key === undefined || known.key === key)
        .map((known) => this.#note(fileId, known, { ...known.entry, end })),
    );
  }

  /** What is not settled, of this client's project. Removes what has been settled for long. */
  async pending(): Promise<PendingJobs> {
    const { scope, keepMs } = this.#parts;
    const open: Known[] = [];
    for await (const known of this.#ledger.entries(`${scope}/`)) {
      if (isSettled(known)) {
        if (known.ageMs > keepMs) {
          await this.#ledger.change(known, undefined).tried;
        }
        continue;
      }
      open.push(known);
      if (isAccepted(known)) {
        this.#remember((known.entry.record as JobRecord).fileId, known); // as written
      }
    }
    return pendingIn(open);
  }

  /** Lists a file, or the call with this id, no more. The keys of a dismissed call are free again. */
  async dismiss(id: string): Promise<void> {
    const claims = await this.#unknown(id);
    await (claims.length > 0 ? this.release(claims) : this.settle(id, 'dismissed'));
    await this.flush();
  }

  /** Says which files the jobs of an unknown call became, in the order of its jobs. */
  async resolve(id: string, fileIds: readonly (string | null)[]): Promise<void> {
    const claims = await this.#unknown(id);
    if (claims.length === 0) {
      throw refusal(`The journal has no unknown call ${id}.`, 'CALL_UNKNOWN');
    }
    if (fileIds.length !== claims.length) {
      const message = `The call ${id} has ${claims.length} jobs, not ${fileIds.length}.`;
      throw refusal(message, 'INVALID_REQUEST');
    }
    const given = fileIds.filter((fileId) => fileId !== null);
    if (new Set(given).size < given.length) {
      throw refusal('Each job has a file of its own: a file id came twice.', 'INVALID_REQUEST');
    }
    const records = claims.map(({ entry }, place): JobRecord | null => {
      const fileId = fileIds[place] ?? null;
      const kind = isVideo(entry.content as MediaJob) ? 'video' : 'audio'; // as claimed
      return fileId === null ? null : { fileId, kind };
    });
    await this.accept(claims, records);
    await this.flush();
  }

  /** Resolves when everything is written; rejects when something could not be. */
  flush(): Promise<void> {
    return this.#ledger.flush();
  }

  #own(id: string): string {
    return `${this.#parts.scope}/${nameOf(['own', id])}`;
  }

  // A job that exists, but nobody knows which one of its call it is.
  #adopt(record: JobRecord): Promise<void> {
    const id = `file ${record.fileId}`;
    const entry: Accepted = { state: 'accepted', id, call: id, place: 0, print: '', record };
    return this.#note(
      record.fileId,
      { key: this.#own(id), entry, text: undefined, ageMs: 0 },
      entry,
    );
  }

  #note(fileId: string, known: Known, entry: Accepted): Promise<void> {
    const change = this.#ledger.change(known, entry);
    if (change.known) {
      this.#remember(fileId, change.known);
    }
    return change.tried;
  }

  // Two jobs may have one file: nothing hangs on the id of a file alone.
  #remember(fileId: string, known: Known<Accepted>): void {
    const all = this.#files.get(fileId) ?? new Map<string, Known<Accepted>>();
    all.set(known.key, known);
    this.#files.set(fileId, all);
    if ([...all.values()].every(isSettled)) {
      this.#files.delete(fileId);
    }
  }

  async #unknown(call: string): Promise<Known<Claimed>[]> {
    const claims: Known<Claimed>[] = [];
    for await (const known of this.#ledger.entries(`${this.#parts.scope}/`)) {
      if (isClaimed(known) && known.entry.call === call) {
        claims.push(known);
      }
    }
    return claims.sort((one, other) => one.entry.place - other.entry.place);
  }
}

/** What is not settled in a journal, of all projects that share it, without a client. */
export async function pendingJobs(store: JournalStore): Promise<PendingJobs> {
  const { systemClock: clock } = await import('../../async/clock.js');
  const ledger = new Ledger({ store, prefix, clock, onTrouble: () => undefined });
  const open: Known[] = [];
  for await (const known of ledger.entries()) {
    if (!isSettled(known)) {
      open.push(known);
    }
  }
  return pendingIn(open);
}

/** The journal of a client, for what cannot work without one. */
export function ledgerOf(ledger: JobLedger | undefined): JobLedger {
  if (ledger) {
    return ledger;
  }
  throw new ConfigurationError(
    'This client has no journal. Create it with `new MediaClient({ journal })`.',
    { code: 'JOURNAL_MISSING' },
  );
}

/** Which content a job is. */
export function printOf(job: MediaJob): string {
  return fingerprint(contentOf(job));
}

function pendingIn(open: readonly Known[]): PendingJobs {
  const oldestFirst = [...open].sort(
    (one, other) => other.ageMs - one.ageMs || one.entry.place - other.entry.place,
  );
  const accepted = oldestFirst.filter(isAccepted);
  const calls = new Map<string, Known<Claimed>[]>();
  for (const known of oldestFirst.filter(isClaimed)) {
    calls.set(known.entry.call, [...(calls.get(known.entry.call) ?? []), known]);
  }
  const records = (all: readonly Known<Accepted>[]) =>
    all.map(({ entry }) => entry.record as JobRecord); // as written
  return {
    jobs: records(accepted),
    finished: records(accepted.filter(({ entry }) => entry.end === 'done')),
    unknown: [...calls].map(([id, claims]) => ({
      id,
      at: new Date(Date.now() - (claims[0]?.ageMs ?? 0)).toISOString(),
      jobs: claims
        .sort((one, other) => one.entry.place - other.entry.place)
        .map(({ entry }) => entry.content as MediaJob), // as claimed
    })),
  };
}

function isClaimed(known: Known): known is Known<Claimed> {
  return known.entry.state === 'claimed';
}

function isAccepted(known: Known): known is Known<Accepted> {
  return known.entry.state === 'accepted';
}

function isSettled(known: Known): boolean {
  return isAccepted(known) && known.entry.end !== undefined && known.entry.end !== 'done';
}

/** Has a call failed because the journal does not answer? */
export function isJournalGone(failure: unknown): boolean {
  return isPostreelError(failure) && failure.code === 'JOURNAL_UNAVAILABLE';
}

/** The error of a job of which nobody knows whether it was submitted. */
export function mayHaveBeenSubmitted(): PostreelError {
  return new PostreelError(
    'This job may have been submitted when an earlier run ended. Look for it in the workspace before you submit it again.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

function taken(): InvalidRequestError {
  return refusal(
    'The journal knows another job by this name: its content differs. Give it another `once` key, or `key` in a queue.',
    'JOB_NAME_TAKEN',
  );
}

function refusal(message: string, code: string): InvalidRequestError {
  return new InvalidRequestError(message, { code, outcome: 'not-sent' });
}
