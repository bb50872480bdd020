import type { AudioRequest, VideoJob } from './generate/types.js';

/** A video or a text to speak. */
export type MediaJob = VideoJob | AudioRequest;

const charactersPerMinute = 900; // about 150 spoken words
const usualMinutes = 1;

/** Is this a video, and not a text to speak? */
export function isVideo(job: MediaJob): job is VideoJob {
  return 'workflowType' in job;
}

/** About how long the result plays, in minutes: what the order of a queue goes by. */
export function estimatedMinutes(job: MediaJob): number {
  if (!isVideo(job)) return job.content.length / charactersPerMinute / (job.playbackRate ?? 1);
  if (job.duration !== undefined) return job.duration;
  if (job.workflowType === 'script') return job.content.length / charactersPerMinute;
  return usualMinutes;
}
