import { durationOf, isVideo, type MediaJob } from '../generate/media-job.js';
import { folderOf, type Submission } from './submission.js';

/**
 * Which jobs may share a call. A 4xx to a call for several jobs leaves open whether the first of them were
 * made, so a job has company only if the service has accepted before whatever it asks for.
 */
export class BatchPolicy {
  readonly #accepted = new Set<string>();
  #longest = 0;

  /** The service took these jobs: what they ask for is no reason to refuse others. */
  accept(jobs: readonly MediaJob[]): void {
    for (const job of jobs) {
      traitsOf(job).forEach((trait) => this.#accepted.add(trait));
      this.#longest = Math.max(this.#longest, durationOf(job));
    }
  }

  /** May this parcel share its call with others? */
  mayShare({ jobs }: Submission): boolean {
    return jobs.every(
      (job) =>
        !mustBeAlone(job) &&
        durationOf(job) <= this.#longest &&
        traitsOf(job).every((trait) => this.#accepted.has(trait)),
    );
  }
}

/** What the jobs of one call have in common, as text. */
export function batchKeyOf(parcel: Submission): string {
  const { kind, options, lane } = parcel;
  const { file, folderId } = folderOf(parcel);
  const { headers, timeout, retry } = options;
  const own = headers ? [...new Headers(headers as HeadersInit)] : []; // checked before
  const lanes = lane && folderId === undefined ? lane.name : undefined;
  // "Applies to every video of the request": a kit is never given to a job that did not ask for it.
  const brands = new Set(parcel.jobs.map((job) => (isVideo(job) ? job.brandId : undefined)));
  return JSON.stringify([kind, file, folderId, [...brands], own, timeout, retry, lanes]);
}

// What the service has to fetch or to find out about may be refused at any time.
function mustBeAlone(job: MediaJob): boolean {
  return !isVideo(job) || job.workflowType === 'url' || (job.mediaUrls?.length ?? 0) > 0;
}

const traits = [
  ...['voiceId', 'brandId', 'templateId', 'subtitlePresetId', 'aiVideoModel', 'resolution'],
  ...['visuals', 'artStyle', 'imageAnimationPreset'],
];

// What is left out is the default, which is no reason to refuse a job unless others ask for less.
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
