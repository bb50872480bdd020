import type { FieldError } from '../../core/errors.js';
import { checkJobs } from '../generate/rules.js';
import { readSpendingCaps, type SpendingCaps } from './options.js';
import { brandOf, estimatedMinutes, isVideo, type MediaJob } from '../generate/media-job.js';

/** What handing in jobs will take, worked out without a call. */
export interface MediaPlan {
  /** How many requests of the rate limit the jobs take at least. */
  readonly requests: number;
  /** About how many minutes of video and speech the jobs come to. */
  readonly minutes: number;
  /** When the last file can be finished at the earliest, if nothing else runs. */
  readonly earliestFinish: Date;
  /** Options that will have no effect, in words. */
  readonly warnings: readonly string[];
  /** What breaks a rule of the service's document, or exceeds a cap; such jobs would be refused. */
  readonly problems: readonly FieldError[];
}

/** The limits that a plan is made for. */
export interface PlanLimits {
  readonly limit: number;
  readonly windowMs: number;
  readonly pending: number;
}

// What generating takes per minute of video: about two minutes. A guess, like every estimate here.
const msPerMinute = 2 * 60_000;
const startMs = 60_000;

/** Checks jobs against every rule and works out requests and time. */
export async function planJobs(
  jobs: readonly MediaJob[],
  limits: PlanLimits,
  caps: SpendingCaps | undefined,
): Promise<MediaPlan> {
  const { schemas } = await import('../schemas.js');
  const { warnings, problems } = checkJobs(jobs, schemas.generate);
  const minutes = jobs.reduce((sum, job) => sum + estimatedMinutes(job), 0);
  const beyond = problemsOf(caps, jobs.length);
  return { ...planTimes(jobs, limits), minutes, warnings, problems: [...problems, ...beyond] };
}

function problemsOf(caps: SpendingCaps | undefined, jobs: number): FieldError[] {
  const { maxJobs = Number.POSITIVE_INFINITY } = readSpendingCaps(caps);
  const message = `allows ${maxJobs} jobs, but there are ${jobs}`;
  return jobs > maxJobs ? [{ field: 'maxJobs', message }] : [];
}

/** Works out requests and time of jobs from their sizes and the limits. */
function planTimes(
  jobs: readonly MediaJob[],
  { limit, windowMs, pending }: PlanLimits,
): Pick<MediaPlan, 'requests' | 'earliestFinish'> {
  const requests = requestsFor(jobs, pending);
  const times = jobs.map((job) => startMs + estimatedMinutes(job) * msPerMinute);
  // One by one: as arguments of one call a hundred thousand would be too many.
  const longest = times.reduce((most, time) => Math.max(most, time), 0);
  const work = times.reduce((sum, time) => sum + time, 0) / pending;
  // The last request leaves in this window, and its job has to be made after it.
  const lastCallAt = Math.floor(Math.max(0, requests - 1) / limit) * windowMs;
  const finishMs = Math.max(longest, work, lastCallAt + Math.min(longest, startMs));
  return { requests, earliestFinish: new Date(Date.now() + finishMs) };
}

// One for each text to speak; videos of one brand share them.
function requestsFor(jobs: readonly MediaJob[], pending: number): number {
  const videos = jobs.filter(isVideo);
  const brands = new Map<string | undefined, number>();
  for (const job of videos) {
    brands.set(brandOf(job), (brands.get(brandOf(job)) ?? 0) + 1);
  }
  const calls = [...brands.values()].map((count) => Math.ceil(count / pending));
  return calls.reduce((sum, count) => sum + count, jobs.length - videos.length);
}
