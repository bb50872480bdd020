import type { Answer } from '../../core/types.js';
import { isPostreelError, type Outcome } from '../../core/errors.js';
import { callSite, locate, RunningCall } from '../../core/call.js';
import { FileIdsMissingError } from '../generate/accepted.js';
import type { MediaJob } from '../generate/media-job.js';
import type { MediaEmitter } from '../notices.js';
import type { JobRecord } from './job.js';
import type { MediaJournal } from './journal.js';
import type { KnownJob } from './journal-types.js';
import { madeNothing } from './refused-calls.js';

/** Jobs to submit with one call. */
export interface Submission {
  readonly jobs: readonly MediaJob[];
  /** Their names in a queue; without them they are not looked for again. */
  readonly names?: readonly string[] | undefined;
  /** Submits jobs again whose earlier one has failed. */
  readonly retriesFailed?: boolean | undefined;
  /** Which project submits them. */
  readonly owner: () => Promise<string>;
  /** Sends the call; its answer becomes one record per job. */
  send(hooks: SendHooks): RunningCall<JobRecord[]>;
}

/** What goes on around the request of a paid call. */
export interface SendHooks {
  /** Runs right before the request leaves. */
  readonly beforeSending?: () => Promise<void>;
  /** Takes the answer of a call that was given up. */
  readonly onLate: (records: () => JobRecord[]) => void;
}

/** Some jobs of a queue belong to another process already. Nothing was sent. */
export class NamesTaken extends Error {
  readonly taken: ReadonlyMap<string, KnownJob>;

  constructor(taken: ReadonlyMap<string, KnownJob>) {
    super('Other runs of this queue have submitted some of these jobs.');
    this.taken = taken;
  }
}

/**
 * Submits jobs with the claim written down before and the ids after, so that a crash in between
 * loses neither. The claim is written when the rate limit lets the call go: before that a crash must
 * not leave jobs without a record. Without a journal it only sends.
 */
export function submit(
  submission: Submission,
  journal: MediaJournal | undefined,
  events: MediaEmitter,
): RunningCall<JobRecord[]> {
  const { jobs, names, retriesFailed = false, owner } = submission;
  const id = crypto.randomUUID();
  const onLate = (records: () => JobRecord[]) => void noteLate(id, records, journal, events);
  if (!journal) {
    return announced(submission.send({ onLate }), events);
  }
  let isClaimed = false;
  const beforeSending = async () => {
    if (isClaimed) {
      return; // another attempt of the same call
    }
    const claims = jobs.map((job, index) => ({ job, name: names?.[index] }));
    const taken = await journal.claim(id, claims, { owner: await owner(), retriesFailed });
    if (taken) {
      throw new NamesTaken(taken);
    }
    isClaimed = true;
  };
  const site = callSite();
  // Now, not in the next turn: the call copies what it was given.
  const call = announced(submission.send({ beforeSending, onLate }), events);
  return new RunningCall(async (state) => {
    state.outcome = 'not-sent';
    let answer: Answer<JobRecord[]>;
    try {
      answer = await call.withResponse();
    } catch (failure) {
      state.outcome = call.outcome;
      locate(failure, site, 'outer call');
      if (isClaimed) {
        await noteFailure({ id, jobs: jobs.length, outcome: call.outcome }, failure, journal);
      }
      throw failure;
    }
    state.outcome = undefined;
    await journal.accept(id, answer.data);
    return answer;
  });
}

/** Tells of the jobs that a call submits, once they are accepted. */
function announced(call: RunningCall<JobRecord[]>, events: MediaEmitter): RunningCall<JobRecord[]> {
  return call.map((records) => {
    announce(records, call.callId, events);
    return records;
  });
}

function announce(
  records: readonly (JobRecord | null)[],
  callId: number | undefined,
  events: MediaEmitter,
): void {
  for (const record of records) {
    if (record) {
      const { fileId, kind } = record;
      events.emit('job:accepted', { fileId, kind, callId: callId ?? 0 });
    }
  }
}

// An unknown outcome stays a claim without ids; ids that came with an error are kept.
async function noteFailure(
  call: { readonly id: string; readonly jobs: number; readonly outcome: Outcome | undefined },
  failure: unknown,
  journal: MediaJournal,
): Promise<void> {
  const { id, jobs, outcome } = call;
  if (failure instanceof FileIdsMissingError) {
    const { jobs, unassigned } = failure.accepted;
    await journal.accept(id, jobs, unassigned);
  } else if (outcome === 'not-sent' || (outcome === 'rejected' && isCertain(failure, jobs))) {
    await journal.refuse(id);
  }
}

function isCertain(failure: unknown, jobs: number): boolean {
  return !isPostreelError(failure) || madeNothing(failure, jobs);
}

// The jobs are paid for, though their caller no longer waits for the answer.
async function noteLate(
  id: string,
  readRecords: () => JobRecord[],
  journal: MediaJournal | undefined,
  events: MediaEmitter,
): Promise<void> {
  let accepted: { jobs: readonly (JobRecord | null)[]; unassigned?: readonly JobRecord[] };
  try {
    accepted = { jobs: readRecords() };
  } catch (failure) {
    if (!(failure instanceof FileIdsMissingError)) {
      return; // a no: the outcome stays unknown
    }
    ({ accepted } = failure);
  }
  announce([...accepted.jobs, ...(accepted.unassigned ?? [])], undefined, events);
  await journal?.accept(id, accepted.jobs, accepted.unassigned);
}
