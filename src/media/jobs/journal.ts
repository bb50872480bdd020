import type { Clock } from '../../core/async.js';
import { fingerprint } from '../../core/values.js';
import type { JobStage } from '../../core/wait.js';
import { ConfigurationError, InvalidRequestError } from '../../core/errors.js';
import {
  givenUp,
  settledAt,
  stateOf,
  type AttemptState,
  type Claim,
  type FactName,
  type Facts,
} from '../../journal/facts.js';
import { Journal, type Attempt } from '../../journal/journal.js';
import { nameOf } from '../../journal/names.js';
import type { JournalStore } from '../../journal/store.js';
import { isVideo, type MediaJob } from '../generate/media-job.js';
import type { JobRecord } from './job.js';
import { contentOf } from './job-names.js';
import type { KnownJob, PendingJobs, UnknownCall } from './journal-types.js';

/** A job that is about to be submitted. */
export interface ClaimedJob {
  /** Its name in a queue; `undefined` for a job without one. */
  readonly name: string | undefined;
  readonly job: MediaJob;
}

type Place = Pick<Attempt, 'name' | 'number'>;

/** What the jobs of one client are written down with. */
export interface MediaJournalParts {
  readonly store: JournalStore;
  /** What tells this project's jobs from those of others in the same store. */
  readonly scope: string;
  readonly clock: Clock;
  /** How long settled jobs are kept, in milliseconds. */
  readonly keepMs: number;
  readonly onTrouble: (message: string) => void;
}

const maxOpenCalls = 1_000;

/** What all keys of media jobs begin with: emails have their own. */
export const mediaPrefix = 'media/';

/** Is this the name of a job, and not of a file? */
export function isJobKey(name: string): boolean {
  return name.split('/')[1] === 'j';
}

/** The jobs of a media client in a journal. */
export class MediaJournal {
  readonly #journal: Journal;
  readonly #parts: MediaJournalParts;
  /** The claims of calls that are not answered: ids may come late. */
  readonly #open = new Map<string, readonly (Attempt & { readonly claim: Claim })[]>();
  /** The attempts of files that this client has seen, until they are settled. */
  readonly #files = new Map<string, Map<string, Place>>();

  constructor(parts: MediaJournalParts) {
    const { store, clock, onTrouble } = parts;
    this.#parts = parts;
    this.#journal = new Journal({ store, clock, onTrouble, prefix: mediaPrefix });
  }

  /** The name of a job of a queue; names of several projects never meet. */
  nameOf(queue: string, job: string): string {
    return this.#full(nameOf([queue, job]));
  }

  /** What is known of named jobs; with `retriesFailed` a job whose file failed is not known any more. */
  async find(names: readonly string[], retriesFailed = false): Promise<Map<string, KnownJob>> {
    const known = new Map<string, KnownJob>();
    const attempts = await this.#journal.find(names, (facts) => isOver(facts, retriesFailed));
    const now = attempts.size > 0 ? await this.#journal.now() : 0;
    for (const [name, attempt] of attempts) {
      const job = knownOf(attempt.facts, now);
      if (job) {
        known.set(name, job);
      }
      if (job?.state === 'accepted') {
        this.#remember(job.job.fileId, attempt);
      }
    }
    return known;
  }

  /**
   * Writes down that the jobs of a call are about to be submitted, each under its name. Resolves to
   * `undefined` when all are claimed; else nothing was kept, and it resolves to what is known of those
   * that were taken: nothing of one that came free again meanwhile.
   */
  async claim(
    call: string,
    jobs: readonly ClaimedJob[],
    { owner, retriesFailed }: { readonly owner: string; readonly retriesFailed: boolean },
  ): Promise<ReadonlyMap<string, KnownJob> | undefined> {
    const names = jobs.map(
      ({ name }, place) => name ?? this.#full(nameOf(['', `${call}-${place}`])),
    );
    const over = (facts: Facts) => isOver(facts, retriesFailed);
    const [at, attempts] = await Promise.all([
      this.#journal.now(),
      this.#journal.find(names, over),
    ]);
    const taken = names.filter((name) => stateOf(attempts.get(name)?.facts ?? {}).state !== 'free');
    if (taken.length > 0) {
      return this.find(taken, retriesFailed);
    }
    const own = jobs.map(({ job }, place) => {
      const { number, facts } = attempts.get(names[place] ?? '') ?? { number: 1, facts: {} };
      const claim = claimOf(job, { call, place, at, owner });
      return { name: names[place] ?? '', number, facts, claim };
    });
    const answers = await Promise.allSettled(own.map((one) => this.#journal.claim(one, one.claim)));
    const stands = (place: number) => {
      const answer = answers[place];
      return answer?.status === 'fulfilled' && answer.value.id === own[place]?.claim.id;
    };
    if (own.every((_, place) => stands(place))) {
      this.#keepOpen(call, own);
      return undefined;
    }
    this.#open.set(
      call,
      own.filter((_, place) => stands(place)),
    );
    // A claim without an answer may come late, when the attempt is free or another one's.
    const unanswered = own.filter((_, place) => answers[place]?.status === 'rejected');
    const write = (one: (typeof own)[number]) =>
      this.#journal.write(one, givenUp(one.claim.id), { at });
    await Promise.all([this.refuse(call), ...unanswered.map(write)]);
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed) {
      throw failed.reason;
    }
    const lost = own.filter((_, place) => !stands(place)).map(({ name }) => name);
    return this.find(lost, retriesFailed);
  }

  /** The service took the jobs of a call; `null` stands for a job without an id, which stays unknown. */
  async accept(
    call: string,
    records: readonly (JobRecord | null)[],
    unassigned: readonly JobRecord[] = [],
  ): Promise<void> {
    const open = this.#open.get(call) ?? [];
    this.#open.delete(call);
    const at = await this.#at();
    const taken = open.flatMap((one) => {
      const record = records[one.claim.place];
      return record ? [this.#accept(one, record, at)] : [];
    });
    const others = [...records.slice(open.length), ...unassigned].flatMap((record) =>
      record ? [this.#adopt(record, at)] : [],
    );
    await Promise.all([...taken, ...others]);
  }

  /** The call of these jobs certainly did nothing. */
  async refuse(call: string): Promise<void> {
    const open = this.#open.get(call) ?? [];
    this.#open.delete(call);
    if (open.length > 0) {
      const at = await this.#at();
      await Promise.all(
        open.map((one) => this.#journal.write(one, 'refused', { at, claim: one.claim.id })),
      );
    }
  }

  /** A file has come to its end. A finished one stays listed until it is saved. */
  async finish(fileId: string, stage: Exclude<JobStage, 'active'> | 'canceled'): Promise<void> {
    await this.#note(fileId, stage);
  }

  /** A file is stored, or of no interest any more: for the job of this name, or for all that have it. */
  async settle(fileId: string, how: 'saved' | 'dismissed', name?: string): Promise<void> {
    await this.#note(fileId, how, name);
  }

  /** What is not settled, of this client's project. Removes what has been settled for long. */
  async pending(): Promise<PendingJobs> {
    const oldest = (await this.#journal.now()) - this.#parts.keepMs;
    const pending = new Pending();
    let name: Attempt[] = [];
    for await (const attempt of this.#journal.attempts(`${this.#parts.scope}/j/`)) {
      pending.add(attempt);
      if (name[0]?.name !== attempt.name) {
        await this.#removeOld(name, oldest);
        name = [];
      }
      name.push(attempt);
    }
    await this.#removeOld(name, oldest);
    return pending.result;
  }

  /** Lists a file, or the call with this id, no more. The names of a dismissed call are free again. */
  async dismiss(id: string): Promise<void> {
    const claims = await this.#unknown(id);
    if (claims.length === 0) {
      await this.settle(id, 'dismissed');
      return;
    }
    const at = await this.#at();
    await Promise.all(claims.map((one) => this.#journal.write(one, 'dismissed', { at })));
    await this.#journal.flush();
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
    const at = await this.#at();
    await Promise.all(
      claims.flatMap((one, place) => {
        const fileId = fileIds[place] ?? undefined;
        const kind = isVideo(one.facts.claim?.content as MediaJob) ? 'video' : 'audio'; // as claimed
        return fileId === undefined ? [] : [this.#accept(one, { fileId, kind }, at, 'resolved')];
      }),
    );
    await this.#journal.flush();
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    return this.#journal.flush();
  }

  // An answer that never comes must not keep the texts of its jobs for the life of the process.
  #keepOpen(call: string, own: readonly (Attempt & { readonly claim: Claim })[]): void {
    this.#open.set(
      call,
      own.map((one) => ({ ...one, claim: { ...one.claim, content: undefined } })),
    );
    const [oldest] = this.#open.keys();
    if (this.#open.size > maxOpenCalls && oldest !== undefined) {
      this.#open.delete(oldest); // ids that come even later are listed without their places
    }
  }

  #full(name: string): string {
    return `${this.#parts.scope}/j/${name}`;
  }

  async #accept(
    one: Attempt & { readonly claim?: Claim },
    record: JobRecord,
    at: number,
    fact: FactName = 'accepted',
  ): Promise<void> {
    const { name, number } = one;
    const value = { at, record };
    this.#remember(record.fileId, one);
    const [isWritten] = await Promise.all([
      this.#journal.write(one, fact, value),
      this.#journal.put(this.#indexKey(record.fileId, one), { name, number }),
    ]);
    const claim = one.claim ?? one.facts.claim;
    if (claim && isWritten) {
      // The text of the job is needed no more.
      await this.#journal.write(one, 'claim', { ...claim, content: undefined });
    }
  }

  // A job that exists, but it is unknown which one of its call it is.
  #adopt(record: JobRecord, at: number): Promise<void> {
    const name = this.#full(nameOf(['', record.fileId]));
    return this.#accept({ name, number: 1, facts: {} }, record, at);
  }

  #remember(fileId: string, { name, number }: Place): void {
    const places = this.#files.get(fileId) ?? new Map<string, Place>();
    this.#files.set(fileId, places.set(keyOf({ name, number }), { name, number }));
  }

  // Two jobs may have one file: nothing hangs on the id of a file alone.
  async #note(fileId: string, fact: FactName, name?: string): Promise<void> {
    const known = this.#files.get(fileId);
    const all = known ? [...known.values()] : await this.#placesOf(fileId);
    const places = all.filter((place) => name === undefined || place.name === name);
    const at = await this.#at();
    await Promise.all(places.map((place) => this.#journal.write(place, fact, { at })));
    if (fact !== 'done') {
      places.forEach((place) => known?.delete(keyOf(place)));
    }
    if (known?.size === 0) {
      this.#files.delete(fileId);
    }
  }

  async #placesOf(fileId: string): Promise<Place[]> {
    const places: Place[] = [];
    const prefix = `${this.#parts.scope}/f/${nameOf([fileId])}/`;
    for await (const { value } of this.#journal.items(prefix)) {
      places.push(JSON.parse(value) as Place); // as written
    }
    return places;
  }

  async #unknown(call: string): Promise<Attempt[]> {
    const claims: Attempt[] = [];
    for await (const attempt of this.#journal.attempts(`${this.#parts.scope}/j/`)) {
      const state = stateOf(attempt.facts);
      if (state.state === 'claimed' && state.claim.call === call) {
        claims.push(attempt);
      }
    }
    return claims.sort((one, other) => placeOf(one) - placeOf(other));
  }

  async #removeOld(attempts: readonly Attempt[], oldest: number): Promise<void> {
    const isOld = attempts.every(({ facts }) => (settledAt(facts) ?? Infinity) < oldest);
    if (attempts.length > 0 && isOld) {
      const keys = attempts.flatMap((one) => {
        const state = stateOf(one.facts);
        return state.state === 'accepted' ? [this.#indexKey(recordIn(state).fileId, one)] : [];
      });
      await this.#journal.remove(attempts, keys);
    }
  }

  #indexKey(fileId: string, { name, number }: Place): string {
    return `${this.#parts.scope}/f/${nameOf([fileId])}/${fingerprint(`${name} ${number}`)}`;
  }

  // A store that does not tell the time must not lose what is to be written.
  async #at(): Promise<number> {
    return this.#journal.now().catch(() => Date.now());
  }
}

/** The journal of a client, for what cannot work without one. */
export function journalOf<Held extends { journal?: unknown }>({
  journal,
}: Held): NonNullable<Held['journal']> {
  if (journal) {
    return journal;
  }
  throw new ConfigurationError(
    'This client has no journal. Create it with `new MediaClient({ journal })`.',
    { code: 'JOURNAL_MISSING' },
  );
}

/** Gathers what is not settled from all attempts. */
export class Pending {
  readonly #jobs: { readonly at: number; readonly place: number; readonly job: JobRecord }[] = [];
  readonly #finished = new Set<JobRecord>();
  readonly #calls = new Map<string, Claim[]>();

  add({ facts }: Attempt): void {
    const state = stateOf(facts);
    if (state.state === 'claimed') {
      const calls = this.#calls.get(state.claim.call) ?? [];
      this.#calls.set(state.claim.call, [...calls, state.claim]);
    }
    if (state.state !== 'accepted' || (state.end !== undefined && state.end !== 'done')) {
      return;
    }
    const job = recordIn(state);
    // A job that no claim is known of comes after those of its time.
    const { at, place } = facts.claim ?? {
      at: (facts.accepted ?? facts.resolved)?.at ?? 0,
      place: Number.MAX_SAFE_INTEGER,
    };
    this.#jobs.push({ at, place, job });
    if (state.end === 'done') {
      this.#finished.add(job);
    }
  }

  get result(): PendingJobs {
    const unknown = [...this.#calls.values()].map((claims): UnknownCall => {
      const [first] = claims;
      const sorted = claims.sort((one, other) => one.place - other.place);
      const jobs = sorted.map(({ content }) => content as MediaJob); // as claimed
      return { id: first?.call ?? '', at: new Date(first?.at ?? 0).toISOString(), jobs };
    });
    const inOrder = this.#jobs.sort((one, other) => one.at - other.at || one.place - other.place);
    const jobs = inOrder.map(({ job }) => job);
    const byTime = unknown.sort((one, other) => (one.at < other.at ? -1 : 1));
    return { jobs, finished: jobs.filter((job) => this.#finished.has(job)), unknown: byTime };
  }
}

function claimOf(
  job: MediaJob,
  { call, place, at, owner }: Pick<Claim, 'call' | 'place' | 'at' | 'owner'>,
): Claim {
  const print = fingerprint(contentOf(job));
  return { id: `${call}-${place}`, call, place, at, owner, print, content: job };
}

function knownOf(facts: Facts, now: number): KnownJob | undefined {
  const state = stateOf(facts);
  if (state.state === 'claimed') {
    const { print, at, owner } = state.claim;
    return { state: 'claimed', print, ageMs: now - at, owner };
  }
  if (state.state !== 'accepted') {
    return undefined;
  }
  return {
    state: 'accepted',
    print: facts.claim?.print,
    job: recordIn(state),
    owner: facts.claim?.owner,
    isFailed: state.end === 'failed' || state.end === 'canceled',
    isSaved: state.end === 'saved',
  };
}

/** Does the next attempt count? */
function isOver(facts: Facts, retriesFailed: boolean): boolean {
  const state = stateOf(facts);
  const isFailed =
    state.state === 'accepted' && (state.end === 'failed' || state.end === 'canceled');
  return state.state === 'refused' || (retriesFailed && isFailed);
}

function keyOf({ name, number }: Place): string {
  return `${name} ${number}`;
}

function recordIn({ record }: Extract<AttemptState, { state: 'accepted' }>): JobRecord {
  return record as JobRecord; // as written
}

function placeOf({ facts }: Attempt): number {
  return facts.claim?.place ?? 0;
}

function refusal(message: string, code: string): InvalidRequestError {
  return new InvalidRequestError(message, { code, outcome: 'not-sent' });
}
