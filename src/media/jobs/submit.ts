import type { Answer } from '../../contract/call.js';
import type { Outcome } from '../../errors/index.js';
import { callSite, locate, RunningCall } from '../../transport/call.js';
import { FileIdsMissingError } from '../generate/accepted.js';
import type { MediaJob } from '../generate/media-job.js';
import type { MediaEmitter } from '../notices.js';
import type { JobRecord } from './job.js';
import type { JobJournal, JournalEntry, NamedJob } from './journal-types.js';

/** Jobs to submit with one call. */
export interface Submission {
  readonly jobs: readonly MediaJob[];
  /** Their names in a named queue. */
  readonly names?: readonly string[] | undefined;
  /** Submits jobs again whose earlier one has failed. */
  readonly retriesFailed?: boolean | undefined;
  /** Sends the call; its answer becomes one record per job. */
  send(): RunningCall<JobRecord[]>;
}

/** Some jobs of a named queue are somebody else's already. Nothing was sent. */
export class NamesTaken extends Error {
  readonly taken: ReadonlyMap<string, NamedJob>;

  constructor(taken: ReadonlyMap<string, NamedJob>) {
    super('Other runs of this queue have submitted some of these jobs.');
    this.taken = taken;
  }
}

/**
 * Submits jobs with the intent written down before and the ids after, so that a crash in between
 * loses neither. Without a journal it only sends.
 */
export function submit(
  submission: Submission,
  journal: JobJournal | undefined,
  onTrouble: (error: unknown) => void,
): RunningCall<JobRecord[]> {
  if (!journal) {
    return submission.send();
  }
  const site = callSite();
  return new RunningCall(async (state) => {
    state.outcome = 'not-sent';
    const id = crypto.randomUUID();
    await writeIntent(id, submission, journal);
    const call = submission.send();
    // The call has happened by then: trouble with the journal must not hide its result.
    const note = (entry: JournalEntry) => writeDown(journal, entry, onTrouble);
    let answer: Answer<JobRecord[]>;
    try {
      answer = await call.withResponse();
    } catch (failure) {
      state.outcome = call.outcome;
      locate(failure, site, 'outer call');
      await noteFailure(id, failure, call.outcome, note);
      throw failure;
    }
    state.outcome = undefined;
    await note({ type: 'accepted', id, jobs: answer.data });
    return answer;
  });
}

/** Tells of the jobs that a call submits, once they are accepted. */
export function announced(
  call: RunningCall<JobRecord[]>,
  events: MediaEmitter,
): RunningCall<JobRecord[]> {
  return call.map((records) => {
    for (const { fileId, kind } of records) {
      events.emit('job:accepted', { fileId, kind, callId: call.callId ?? 0 });
    }
    return records;
  });
}

async function writeIntent(
  id: string,
  { jobs, names, retriesFailed }: Submission,
  journal: JobJournal,
): Promise<void> {
  const at = new Date().toISOString();
  if (!names) {
    await journal.append({ type: 'intent', id, at, jobs });
    return;
  }
  const mark = retriesFailed ? { retriesFailed } : undefined;
  const taken = await journal.claim({ type: 'intent', id, at, jobs, names, ...mark });
  if (taken.size > 0) {
    throw new NamesTaken(taken);
  }
}

// An unknown outcome stays an intent without ids; ids that came with an error are kept.
async function noteFailure(
  id: string,
  failure: unknown,
  outcome: Outcome | undefined,
  note: (entry: JournalEntry) => Promise<void>,
): Promise<void> {
  if (failure instanceof FileIdsMissingError) {
    const { jobs, unassigned } = failure.accepted;
    await note({ type: 'accepted', id, jobs, unassigned });
  } else if (outcome === 'not-sent' || outcome === 'rejected') {
    await note({ type: 'refused', id });
  }
}

const repeatDelaysMs = [1_000, 4_000, 15_000, 60_000];

/** Writes what must not be lost: a write that fails is a warning, and tried again. */
async function writeDown(
  journal: JobJournal,
  entry: JournalEntry,
  onTrouble: (error: unknown) => void,
): Promise<void> {
  try {
    await journal.append(entry);
  } catch (error) {
    onTrouble(error);
    repeat(journal, entry, 0);
  }
}

function repeat(journal: JobJournal, entry: JournalEntry, tries: number): void {
  const delayMs = repeatDelaysMs[tries];
  if (delayMs !== undefined) {
    setTimeout(() => {
      journal.append(entry).catch(() => repeat(journal, entry, tries + 1));
    }, delayMs);
  }
}
