import { type FieldError, type InvalidRequestError, invalidRequest } from '../../core/errors.js';
import { requestProblems } from '../../core/validate.js';
import { isVideo, withFormat, type MediaJob } from './media-job.js';
import { routes } from './routes.js';
import type { schemas } from './schemas.js';
import { jobWarnings } from './warnings.js';

/** The findings for a list of jobs. */
export interface JobCheck {
  readonly problems: readonly FieldError[];
  readonly warnings: readonly string[];
}

/** Checks jobs against every rule of the document, without a call. */
export function checkJobs(jobs: readonly MediaJob[], generate: typeof schemas): JobCheck {
  const problems = jobs.flatMap((job, index) =>
    jobProblems(job, generate).map((problem) => ({
      ...problem,
      field: `jobs[${index}].${problem.field}`,
    })),
  );
  const warnings = jobs.flatMap((job, index) =>
    isVideo(job) ? jobWarnings(job, `jobs[${index}]`) : [],
  );
  return { problems, warnings };
}

/** The error for a job that breaks a rule; `undefined` for one that may be submitted. */
export function jobRefusal(
  job: MediaJob,
  generate: typeof schemas,
): InvalidRequestError | undefined {
  const problems = jobProblems(job, generate);
  const { method, path } = isVideo(job) ? routes.video : routes.audio;
  return problems.length > 0 ? invalidRequest(problems, { method, path }) : undefined;
}

function jobProblems(job: MediaJob, generate: typeof schemas): FieldError[] {
  if (!isVideo(job)) {
    return [...requestProblems({ body: generate.audio.body }, job, undefined)];
  }
  const request = { payload: [withFormat(job)] };
  return requestProblems({ body: generate.video.body }, request, undefined).map((problem) => ({
    ...problem,
    field: problem.field.replace('payload[0].', ''),
  }));
}
