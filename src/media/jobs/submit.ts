import type { Answer } from '../../contract/call.js';
import { isPostreelError } from '../../errors/index.js';
import { RunningCall } from '../../transport/call.js';
import type { MediaJob } from '../generate/media-job.js';
import type { JobRecord } from './job.js';
import type { JobJournal, JournalEntry } from './journal.js';

/** Jobs to hand in with one call. */
export interface Submission {
  readonly jobs: readonly MediaJob[];
  /** Their names in a named queue. */
  readonly names?: readonly string[] | undefined;
  /** Sends the call; its answer becomes one record per job. */
  send(): RunningCall<JobRecord[]>;
}

/**
 * Hands in jobs with the intent written down before and the ids after, so that a crash in between
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
  return new RunningCall(async (state) => {
    state.outcome = 'not-sent';
    const { jobs, names } = submission;
    const id = crypto.randomUUID();
    const at = new Date().toISOString();
    await journal.append({ type: 'intent', id, at, jobs, ...(names && { names }) });
    const call = submission.send();
    // The call has happened by then: trouble with the journal must not hide its result.
    const note = (entry: JournalEntry) => journal.append(entry).catch(onTrouble);
    let answer: Answer<JobRecord[]>;
    try {
      answer = await call.withResponse();
    } catch (failure) {
      state.outcome = call.outcome;
      await noteFailure(failure, call.outcome, id, note);
      throw failure;
    }
    state.outcome = undefined;
    await note({ type: 'accepted', id, jobs: answer.data });
    return answer;
  });
}

// An unknown outcome stays an intent without ids; ids that came with an error are kept.
async function noteFailure(
  failure: unknown,
  outcome: string | undefined,
  id: string,
  note: (entry: JournalEntry) => Promise<void>,
): Promise<void> {
  if (outcome === 'not-sent' || outcome === 'rejected') {
    await note({ type: 'refused', id });
    return;
  }
  const fileIds: unknown = isPostreelError(failure) ? Reflect.get(failure, 'fileIds') : undefined;
  if (!Array.isArray(fileIds) || fileIds.length === 0) {
    return;
  }
  const jobs = fileIds.map((fileId) => ({ fileId: String(fileId), kind: 'video' as const }));
  await note({ type: 'accepted', id, jobs });
}
