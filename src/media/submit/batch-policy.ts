import { durationOf, isVideo, type MediaJob } from '../generate/media-job.js';
import { folderOf, type Submission } from './submission.js';

/**
 * Decides which jobs may share a call. After a 4xx to a call for several jobs, nobody knows whether the
 * service made the first of them. A job may therefore share a call only when the service has already accepted
 * each of its settings (voice, brand, resolution, …), and a job that lasts at least as long.
 */
export class BatchPolicy {
  readonly #accepted = new Set<string>();
  #longest = 0;

  /**
   * Remembers the settings of jobs that the service accepted: jobs with the same settings may share a call.
   */
  accept(jobs: readonly MediaJob[]): void {
    for (const job of jobs) {
      traitsOf(job).forEach((trait) => this.#accepted.add(trait));
      this.#longest = Math.max(this.#longest, durationOf(job));
    }
  }

  /** May this submission share its call with others? */
  mayShare({ jobs }: Submission): boolean {
    return jobs.every(
      (job) =>
        !mustBeAlone(job) &&
        durationOf(job) <= this.#longest &&
        traitsOf(job).every((trait) => this.#accepted.has(trait)),
    );
  }
}

/** A text that is equal for submissions that may go into the same call: folder, brand, headers, and so on. */
export function batchKeyOf(submission: Submission): string {
  const { kind, options, quota } = submission;
  const { file, folderId } = folderOf(submission);
  const { headers, timeout, retry } = options;
  const own = headers ? [...new Headers(headers as HeadersInit)] : []; // as: the headers were checked before
  const queueName = quota && folderId === undefined ? quota.name : undefined;
  // "Applies to every video of the request": a job without a brand kit must not get the kit of another job.
  const brands = new Set(submission.jobs.map((job) => (isVideo(job) ? job.brandId : undefined)));
  return JSON.stringify([kind, file, folderId, [...brands], own, timeout, retry, queueName]);
}

// The service may refuse a URL or a media file at any time, because it has to fetch them. Each of these jobs
// goes into a call without others.
function mustBeAlone(job: MediaJob): boolean {
  return !isVideo(job) || job.workflowType === 'url' || (job.mediaUrls?.length ?? 0) > 0;
}

const traits = [
  ...['voiceId', 'brandId', 'templateId', 'subtitlePresetId', 'aiVideoModel', 'resolution'],
  ...['visuals', 'artStyle', 'imageAnimationPreset'],
];

// Lists the settings of a job as texts. A missing resolution or `visuals` counts as its default: the
// default may be refused as well, e.g. 1080p by an account whose accepted jobs all asked for 720p.
function traitsOf(job: MediaJob): string[] {
  const fields: Readonly<Record<string, unknown>> = {
    resolution: '1080p',
    visuals: 'stock',
    ...job,
  };
  return traits
    .filter((name) => fields[name] !== undefined)
    .map((name) => `${name} ${String(fields[name])}`);
}
