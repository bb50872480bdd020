import type { GenerationJob, MediaClient } from 'postreel/media';
import { isPostreelError } from '../../core/errors.js';
import { isAlive, isAnswered } from '../../core/once/ledger.js';
import { stageOf, statusOf } from '../../core/job-status.js';
import type { JobLedger, OnceJob } from '../../media/jobs/ledger.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { defaultJournal } from './saving.js';

/** A job of a command with its key, and its state in the journal and at the service. */
export interface PaidJob {
  readonly once: OnceJob;
  /**
   * | state | meaning | the command |
   * |---|---|---|
   * | `new` | was never submitted | makes it |
   * | `claimed` | is being submitted, or its process was killed a moment ago | waits for it |
   * | `paid` | is finished or in progress | waits for it and saves it |
   * | `failed` | failed or was canceled | makes it again |
   * | `lost` | is finished, but its file is gone | makes it again |
   * | `again` | the user passed `--again` | makes it again |
   */
  readonly state: 'new' | 'claimed' | 'paid' | 'failed' | 'lost' | 'again';
  /** The job that was submitted under the key. */
  readonly job?: GenerationJob;
}

/** The parameters for looking up the jobs of a command. */
export interface JobLookUp {
  readonly media: MediaClient;
  readonly journal: string;
  readonly context: Context;
  /** `--again`: jobs that were made before are made again. */
  readonly isAgain: boolean;
}

// Lookups check the status of submitted jobs, and the links of finished files.
const lookUpsAtOneTime = 10;

/** Finds out which of these jobs are paid for. Ends the command if the outcome of one is unknown. */
export async function lookUpJobs(
  onces: readonly OnceJob[],
  options: JobLookUp,
): Promise<PaidJob[]> {
  const jobs: PaidJob[] = [];
  while (jobs.length < onces.length) {
    const some = onces.slice(jobs.length, jobs.length + lookUpsAtOneTime);
    jobs.push(...(await Promise.all(some.map((once) => lookUp(once, options)))));
  }
  return jobs;
}

async function lookUp(once: OnceJob, options: JobLookUp): Promise<PaidJob> {
  const { media, context, isAgain } = options;
  const ledger = ledgerOf(media);
  const found = await ledger.find(once);
  if (!found) {
    return { once, state: 'new' };
  }
  if (isAnswered(found)) {
    const job = media.job(ledger.fileOf(found).record);
    const state = isAgain ? 'again' : await stateOf(job, context.signal);
    return { once, state, job };
  }
  if (!isAlive(found)) {
    throw outcomeUnknownError(options);
  }
  return { once, state: 'claimed' };
}

function ledgerOf(media: MediaClient): JobLedger {
  const { ledger } = media.engineHost();
  if (!ledger) {
    throw new TypeError('the commands that make media have a journal');
  }
  return ledger;
}

async function stateOf(job: GenerationJob, signal: AbortSignal): Promise<PaidJob['state']> {
  switch (stageOf(statusOf(await job.status({ signal })))) {
    case 'failed':
      return 'failed';
    case 'done':
      return (await isLost(job, signal)) ? 'lost' : 'paid';
    case 'active':
      return 'paid';
  }
}

/**
 * True if the file of a finished job is gone for good. Any other failure may be temporary: the download tries
 * again.
 */
async function isLost(job: GenerationJob, signal: AbortSignal): Promise<boolean> {
  try {
    const file = await job.waitForFile({ signal });
    const { body } = await file.response({ signal, range: 'bytes=0-0' });
    await body?.cancel();
    return false;
  } catch (error) {
    signal.throwIfAborted();
    const { code = '', status = 0 } = isPostreelError(error) ? error : {};
    const isGone = code === 'DOWNLOAD_FAILED' && [403, 404, 410].includes(status);
    return isGone || code === 'DOWNLOAD_MISSING';
  }
}

/** True if the command will submit this job, so that it may cost money. */
export function mustBeMade({ state }: PaidJob): boolean {
  return state !== 'paid';
}

/** The facts of a plan about jobs that are paid for; empty if none was submitted before. */
export function describePaidJobs(
  jobs: readonly PaidJob[],
  noun: string,
): { readonly 'so far'?: string; readonly 'made again'?: string } {
  const numberOf = (state: PaidJob['state']) => jobs.filter((job) => job.state === state).length;
  if (numberOf('new') === jobs.length) {
    return {};
  }
  const claimed = numberOf('claimed');
  const underWay = claimed === 0 ? '' : `; ${claimed} may be under way, and the command waits`;
  const again = [
    [numberOf('failed'), 'failed or canceled'],
    [numberOf('lost'), 'lost'],
    [numberOf('again'), 'because of --again'],
  ] as const;
  const reasons = again.filter(([number]) => number > 0).map((parts) => parts.join(' '));
  return {
    'so far': `${numberOf('paid')} of ${jobs.length} ${noun}s are paid for${underWay}`,
    ...(reasons.length > 0 && { 'made again': reasons.join(', ') }),
  };
}

/** Frees the key of a job that is made again, unless another run has made it again since. */
export async function freeKey({ once, job }: PaidJob, media: MediaClient): Promise<void> {
  const ledger = ledgerOf(media);
  const found = job && (await ledger.find(once));
  if (found && isAnswered(found) && ledger.fileOf(found).record.fileId === job.fileId) {
    await media.journal.forget(once.key, { call: once.call });
  }
}

/** Creates the error of a command that cannot find out whether a job is paid for. */
export function outcomeUnknownError({ journal }: Pick<JobLookUp, 'journal'>): CommandEnd {
  const where = journal === defaultJournal ? '' : ` --journal ${journal}`;
  return new CommandEnd(
    'unknown',
    `The response to an earlier call was lost: its job may exist and be paid for. \`postreel jobs pending${where}\` lists the call. If its job does not exist in the workspace, forget the call with \`postreel jobs dismiss\`, and run this command again.`,
  );
}
