import {
  ConfigurationError,
  InvalidRequestError,
  isPostreelError,
  PostreelError,
} from '../../core/errors.js';
import { nameOf } from '../../core/once/journal.js';
import { holdClaim, type HeldClaim } from '../../core/once/claim.js';
import {
  isAlive,
  isAnswered,
  leftMsOf,
  unknownOf,
  type Answered,
  type Claimed,
  type KeyEntry,
  type StoredEntry,
  type Ledger,
  type Unknown,
} from '../../core/once/ledger.js';
import {
  toCanonicalJson,
  journalMissingError,
  storeKeyOf,
  requireSameContent,
} from '../../core/once/key.js';
import type { KeyScope } from '../../core/once/key-scope.js';
import { toJsonValue } from '../../core/call/body.js';
import { isRecord } from '../../core/values.js';
import { fingerprint } from '../../core/fingerprint.js';
import type { JobStage } from '../../core/job-status.js';
import { isVideo, withFormat, type MediaJob } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import type { TextRange } from '../generate/types.js';
import type { FileKind } from '../status/intervals.js';
import type { JobRecord } from './job.js';

/** A call whose response was lost. Its jobs may have been submitted, and are never sent again. */
export interface UnknownCall {
  readonly id: string;
  /** The time of the call. ISO 8601. */
  readonly at: string;
  /** The jobs of the call that have no file id. */
  readonly jobs: readonly MediaJob[];
}

/** A call in flight, in this process or another one, or a call whose process was killed a moment ago. */
export interface AwaitedCall {
  readonly id: string;
  /** The jobs of the call that have no file id yet. */
  readonly jobs: readonly MediaJob[];
  /** The time from which its outcome counts as unknown, unless the response arrives before. ISO 8601. */
  readonly unknownAt: string;
}

/** The jobs and calls of a journal that are not settled. */
export interface PendingJobs {
  /** The jobs that the service accepted: those in progress, and those that are finished and not saved. */
  readonly jobs: readonly JobRecord[];
  /** The jobs among them whose file is finished: save the file, then call `acknowledge()`. */
  readonly finished: readonly JobRecord[];
  /** The calls whose response was lost. */
  readonly unknown: readonly UnknownCall[];
  /**
   * The calls whose response may still arrive. After a kill, the calls of the killed process are listed here
   * first, and in `unknown` after `unknownAt`.
   */
  readonly mayBeAnswered: readonly AwaitedCall[];
}

/** A job with an idempotency key. */
export interface OnceJob {
  /** The key of its entry in the store. */
  readonly storeKey: string;
  readonly key: string;
  readonly call: string;
  readonly contentHash: string;
  readonly owner?: string | undefined;
  /** The entry to replace when a job that failed, or whose outcome is unknown, is submitted again. */
  readonly replaced?: StoredEntry | undefined;
}

/** A file that an entry of the journal names. */
export interface KnownFile {
  readonly record: JobRecord;
  /** Has the file ended: finished, failed, canceled, saved or dismissed? */
  readonly isOver: boolean;
  readonly isSaved: boolean;
}

/** The content that a claim stores of its job until the job has a file id. */
interface JobContent {
  readonly job: MediaJob;
  /** The id of the call that submits the job, and the index of the job in that call. */
  readonly call: string;
  readonly place: number;
  /** The range of the longer text that the job speaks. */
  readonly part?: TextRange | undefined;
}

/**
 * The jobs of a media client in a journal. Each job has one entry: under its idempotency key, or under a
 * generated key when the caller gave none. The entry moves through these states:
 *
 *     event                                  entry
 *     claim(): the call is about to be sent  claimed; its lease is renewed while the call is in flight
 *     accept(): the service named the file   answered, with the id of the file
 *     accept(), without an id for the job    unknown
 *     markUnknown(): the response was lost   unknown
 *     release(): the call made nothing       removed, or the entry that the claim had replaced
 *     finish(): the file has ended           answered, with `end`: done, failed or canceled
 *     settle(): the caller is done           answered, with `end`: saved or dismissed
 *     dismiss() of an unknown call           removed
 *
 * A claim that is no longer renewed counts as unknown when its lease has run out.
 */
export class JobLedger {
  readonly #keys: KeyScope;
  readonly #ledger: Ledger;
  /** The entries of the files that this client has seen, by file id and store key, until they are settled. */
  readonly #files = new Map<string, Map<string, StoredEntry<Answered>>>();
  /** The ids of the files that were read from the journal. */
  readonly #read = new Set<string>();

  constructor(keys: KeyScope) {
    this.#keys = keys;
    this.#ledger = keys.ledger;
  }

  /** Describes a job that is submitted once by a single call with this key. */
  onceOf(kind: FileKind, key: string, job: MediaJob): OnceJob {
    const call = callOf(kind);
    const storeKey = storeKeyOf(this.#keys.scope, { key, call });
    return { storeKey, key, call, contentHash: hashOf(job) };
  }

  /** Describes a job that is submitted once by a named queue or a job engine. */
  inQueue(queue: string, key: string, job: MediaJob): OnceJob {
    const { queueScope, owner } = this.#keys;
    const call = `queue ${queue}`;
    const storeKey = storeKeyOf(queueScope, { key, call });
    return { storeKey, key, call, contentHash: hashOf(job), owner };
  }

  /**
   * Reads the entry of a job.
   * @throws an error when the key belongs to another project, or to another job
   */
  async find(once: OnceJob): Promise<StoredEntry | undefined> {
    const known = await this.#ledger.find(once.storeKey);
    if (known && known.entry.owner !== once.owner) {
      throw otherOwnerError(once);
    }
    requireSameContent(known, once);
    return known;
  }

  /** Reads the file of an entry. From now on the entry records how the file ends. */
  fileOf(known: StoredEntry<Answered>): KnownFile {
    const { end } = known.entry;
    const record = recordOf(known.entry);
    this.#read.add(record.fileId);
    this.#remember(record.fileId, known);
    return { record, isOver: end !== undefined, isSaved: end === 'saved' };
  }

  /**
   * Claims a job for a call that is about to be sent. Resolves to `undefined` when another run was faster.
   */
  async claim(
    {
      call,
      place,
      limitMs,
      part,
    }: {
      readonly call: string;
      readonly place: number;
      readonly limitMs: number;
      readonly part?: TextRange | undefined;
    },
    job: MediaJob,
    once: OnceJob | undefined,
  ): Promise<HeldClaim | undefined> {
    const id = `${call}-${place}`;
    const own = once ?? { ...this.#generateKey(id), contentHash: hashOf(job) };
    const { key, contentHash: print, owner, replaced } = own;
    const content: JobContent = { job, call, place, ...(part && { part }) };
    const facts = { id, key, call: own.call, print, ...(owner !== undefined && { owner }) };
    const claim: Claimed = { state: 'claimed', ...facts, limitMs, content };
    return holdClaim(this.#ledger, own.storeKey, claim, replaced);
  }

  /**
   * Writes the file ids of the jobs that the service accepted. `null` stands for a job without an id: its
   * outcome becomes unknown. Resolves after the first attempt to write each entry, also when that attempt
   * failed.
   */
  async accept(
    claims: readonly StoredEntry<Claimed | Unknown>[],
    records: readonly (JobRecord | null)[],
    unassigned: readonly JobRecord[] = [],
  ): Promise<void> {
    const taken = claims.map((known, place) => {
      const record = records[place];
      const { part } = contentOf(known);
      return record
        ? this.#writeAnswer(record.fileId, known, {
            ...factsOf(known.entry),
            state: 'answered',
            answer: { ...record, ...(part && { part }) },
          })
        : this.#ledger.change(known, unknownOf(known.entry)).tried;
    });
    const others = [...records.slice(claims.length), ...unassigned].map(
      (record) => record && this.#addUnassigned(record),
    );
    await Promise.all([...taken, ...others]);
  }

  /**
   * Releases the claims of a call that certainly made no job. Removes their entries, or restores the entries
   * in `before` that the claims had replaced.
   */
  async release(
    claims: readonly StoredEntry<Claimed | Unknown>[],
    before: readonly StoredEntry[],
  ): Promise<void> {
    const changes = claims.map((known) => {
      const replaced = before.find(({ storeKey }) => storeKey === known.storeKey)?.entry;
      return this.#ledger.change(known, replaced);
    });
    await Promise.all(changes.map(({ tried }) => tried));
  }

  /** Marks the outcome of these jobs as unknown. Resolves to their new entries. */
  async markUnknown(
    claims: readonly StoredEntry<Claimed | Unknown>[],
  ): Promise<readonly StoredEntry<Unknown>[]> {
    const changes = claims.map((known) => this.#ledger.change(known, unknownOf(known.entry)));
    await Promise.all(changes.map(({ tried }) => tried));
    return changes.flatMap(({ stored }) => stored ?? []);
  }

  /** Was this file read from the journal? */
  hasRead(fileId: string): boolean {
    return this.#read.has(fileId);
  }

  /** Writes how a file ended. A finished file stays listed as pending until it is saved. */
  finish(fileId: string, end: Exclude<JobStage, 'active'> | 'canceled'): void {
    for (const known of this.#files.get(fileId)?.values() ?? []) {
      // A later status check does not change a failure, or what the caller reported (saved or dismissed).
      if (known.entry.end === undefined || (known.entry.end === 'done' && end !== 'done')) {
        void this.#writeAnswer(fileId, known, { ...known.entry, end });
      }
    }
  }

  /** Marks a file as saved or dismissed, in every entry that names it. */
  async settle(fileId: string, end: 'saved' | 'dismissed'): Promise<void> {
    if (!this.#files.has(fileId)) {
      await this.pending(); // reads all entries into `#files`
    }
    const all = [...(this.#files.get(fileId)?.values() ?? [])];
    await Promise.all(
      all.map((known) => this.#writeAnswer(fileId, known, { ...known.entry, end })),
    );
  }

  /** Reads the jobs and calls of this client's project that are not settled. */
  async pending(): Promise<PendingJobs> {
    const open: StoredEntry[] = [];
    for await (const known of this.#entries()) {
      if (isSettled(known)) {
        continue;
      }
      open.push(known);
      if (isAnswered(known)) {
        this.fileOf(known);
      }
    }
    return listPending(open);
  }

  /**
   * Removes a file, or the call with this id, from the pending list. The keys of a dismissed call are free.
   */
  async dismiss(id: string): Promise<void> {
    const lost = await this.#unknown(id);
    const changes = lost.map((known) => this.#ledger.change(known, undefined).tried);
    await (lost.length > 0 ? Promise.all(changes) : this.settle(id, 'dismissed'));
    await this.flush();
  }

  /** Writes which files the jobs of an unknown call became, in the order of its jobs. */
  async resolve(id: string, fileIds: readonly (string | null)[]): Promise<void> {
    const lost = await this.#unknown(id);
    if (lost.length === 0) {
      throw journalError(`The journal has no unknown call ${id}.`, 'CALL_UNKNOWN');
    }
    if (fileIds.length !== lost.length) {
      const message = `The call ${id} has ${lost.length} jobs, not ${fileIds.length}.`;
      throw journalError(message, 'INVALID_REQUEST');
    }
    const given = fileIds.filter((fileId) => fileId !== null);
    if (new Set(given).size < given.length) {
      throw journalError(
        'The list contains a file id twice, but each job has a different file.',
        'INVALID_REQUEST',
      );
    }
    const records = lost.map((known, place): JobRecord | null => {
      const fileId = fileIds[place] ?? null;
      const kind = isVideo(contentOf(known).job) ? 'video' : 'audio';
      return fileId === null ? null : { fileId, kind };
    });
    await this.accept(lost, records);
    await this.flush();
  }

  /** Resolves when all changes are written. Rejects when a change could not be written. */
  flush(): Promise<void> {
    return this.#ledger.flush();
  }

  async *#entries(): AsyncGenerator<StoredEntry, void, undefined> {
    const { scope, queueScope, owner } = this.#keys;
    for (const prefix of new Set([scope, queueScope])) {
      for await (const known of this.#ledger.entries(`once/${prefix}/`)) {
        if (isQueueEntry(known.entry) ? known.entry.owner === owner : calls.has(known.entry.call)) {
          yield known;
        }
      }
    }
  }

  #generateKey(id: string) {
    return {
      storeKey: `once/${this.#keys.scope}/${nameOf(['own', id])}`,
      key: '',
      call: 'POST own',
    };
  }

  // Adds an entry for a file that exists, but that cannot be matched to a job of its call.
  #addUnassigned(record: JobRecord): Promise<void> {
    const id = `file ${record.fileId}`;
    const { storeKey, key, call } = this.#generateKey(id);
    const entry: Answered = { state: 'answered', id, key, call, print: '', answer: record };
    return this.#writeAnswer(record.fileId, { storeKey, entry, text: undefined, ageMs: 0 }, entry);
  }

  async #writeAnswer(fileId: string, known: StoredEntry, entry: Answered): Promise<void> {
    const change = this.#ledger.change(known, entry);
    if (change.stored) {
      this.#remember(fileId, change.stored);
    }
    await change.tried;
  }

  // Two jobs may have the same file, so the entries are kept by file id and by store key.
  #remember(fileId: string, known: StoredEntry<Answered>): void {
    const all = this.#files.get(fileId) ?? new Map<string, StoredEntry<Answered>>();
    all.set(known.storeKey, known);
    this.#files.set(fileId, all);
    if ([...all.values()].every(isSettled)) {
      this.#files.delete(fileId);
    }
  }

  /** The entries of an unknown call, in order. Throws when the response to the call may still arrive. */
  async #unknown(call: string): Promise<StoredEntry<Unknown | Claimed>[]> {
    const lost: StoredEntry<Unknown | Claimed>[] = [];
    for await (const known of this.#entries()) {
      if (isUnanswered(known) && contentOf(known).call === call) {
        if (isAlive(known)) {
          throw underWayError(call, leftMsOf(known));
        }
        lost.push(known);
      }
    }
    return lost.sort((one, other) => contentOf(one).place - contentOf(other).place);
  }
}

/** Returns the journal of a client. Throws a `ConfigurationError` when the client has none. */
export function ledgerOf(ledger: JobLedger | undefined, name = 'This'): JobLedger {
  if (ledger) {
    return ledger;
  }
  throw journalMissingError(name);
}

/**
 * The fingerprint of a job's content. The `webhook` is left out, because it does not change the file.
 * @throws an `InvalidRequestError` when the job cannot be encoded
 */
export function hashOf(job: MediaJob): string {
  const whole = toJsonValue(isVideo(job) ? withFormat(job) : job);
  return fingerprint(toCanonicalJson({ ...(isRecord(whole) && whole), webhook: undefined }));
}

function callOf(kind: FileKind): string {
  const { method, path } = routes[kind];
  return `${method} ${path}`;
}

const calls: ReadonlySet<string> = new Set([callOf('video'), callOf('audio'), 'POST own']);

/** Does this `call` of a journal entry belong to the media service? */
export function isMediaCall(call: string): boolean {
  return calls.has(call) || isQueueEntry({ call });
}

/** Does this entry belong to a job of a named queue or a job engine? */
function isQueueEntry({ call }: { readonly call: string }): boolean {
  return call.startsWith('queue ');
}

function listPending(open: readonly StoredEntry[]): PendingJobs {
  const oldestFirst = [...open].sort((one, other) => other.ageMs - one.ageMs);
  const answered = oldestFirst.filter(isAnswered);
  const unanswered = oldestFirst.filter(isUnanswered);
  const lost = groupByCall(unanswered.filter((known) => !isAlive(known)));
  const awaited = groupByCall(unanswered.filter(isAlive));
  return {
    jobs: answered.map(({ entry }) => recordOf(entry)),
    finished: answered
      .filter(({ entry }) => entry.end === 'done')
      .map(({ entry }) => recordOf(entry)),
    unknown: [...lost].map(([id, all]) => ({
      id,
      at: timeAfter(-(all[0]?.ageMs ?? 0)),
      jobs: jobsOf(all),
    })),
    mayBeAnswered: [...awaited].map(([id, all]) => ({
      id,
      jobs: jobsOf(all),
      unknownAt: timeAfter(Math.max(...all.map(leftMsOf))),
    })),
  };
}

function groupByCall(open: readonly StoredEntry<Unknown | Claimed>[]) {
  const calls = new Map<string, StoredEntry<Unknown | Claimed>[]>();
  for (const known of open) {
    const { call } = contentOf(known);
    calls.set(call, [...(calls.get(call) ?? []), known]);
  }
  return calls;
}

/** The jobs of a call, in the order of the call. */
function jobsOf(all: readonly StoredEntry<Unknown | Claimed>[]): MediaJob[] {
  const contents = all.map(contentOf).sort((one, other) => one.place - other.place);
  return contents.map(({ job }) => job);
}

/** The time that many milliseconds from now. ISO 8601. */
function timeAfter(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

function factsOf({ id, key, call, print, owner }: KeyEntry) {
  return { id, key, call, print, ...(owner !== undefined && { owner }) };
}

function recordOf({ answer }: Answered): JobRecord {
  return answer as JobRecord; // as: `accept()` wrote it
}

/** The id of the paid call that contains the job of this claim. */
export function callIdOf(claimed: StoredEntry): string {
  return isUnanswered(claimed) ? contentOf(claimed).call : '';
}

function contentOf({ entry }: StoredEntry<Claimed | Unknown>): JobContent {
  return entry.content as JobContent; // as: `claim()` wrote it
}

function isUnanswered(known: StoredEntry): known is StoredEntry<Unknown | Claimed> {
  return known.entry.state !== 'answered';
}

function isSettled(known: StoredEntry): boolean {
  return isAnswered(known) && known.entry.end !== undefined && known.entry.end !== 'done';
}

/** Is this the error of a job that another project submitted? */
export function isOtherOwnerError(failure: unknown): boolean {
  return isPostreelError(failure) && failure.code === 'OTHER_OWNER';
}

function otherOwnerError({ key, call }: OnceJob): ConfigurationError {
  return new ConfigurationError(
    `The job "${key}" of the ${call} was submitted with the key of another project. A client with that key and the same \`rateLimit.group\` will continue it.`,
    { code: 'OTHER_OWNER' },
  );
}

/** The error of a job that may have been submitted before. */
export function unknownJobError({ key, call }: OnceJob, found: StoredEntry): PostreelError {
  const id = callIdOf(found);
  return new PostreelError(
    `The job with the key "${key}" of ${call} may have been submitted: its response was lost, or its process ended. Look for its file at the service first. If there is a file, name it with \`media.journal.resolve('${id}', [fileId])\`. If there is none, call \`media.journal.dismiss('${id}')\`, and the next call submits the job. To submit it unchecked, use \`retry: { unknownOutcome: true }\`, or \`unknown: 'send'\` in a queue.`,
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

function underWayError(call: string, leftMs: number): InvalidRequestError {
  const message = `The call ${call} is under way, or its process was killed a moment ago: its response may still be written. Try again after ${timeAfter(leftMs)}, unless \`journal.pending()\` lists its files before.`;
  return new InvalidRequestError(message, { code: 'ONCE_UNDER_WAY', outcome: 'not-sent' });
}

function journalError(message: string, code: string): InvalidRequestError {
  return new InvalidRequestError(message, { code });
}
