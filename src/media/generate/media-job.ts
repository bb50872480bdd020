import { isRecord } from '../../contract/is-record.js';
import type { AudioRequest, VideoJob } from './types.js';

/** A video or a text to speak. */
export type MediaJob = VideoJob | AudioRequest;

const charactersPerMinute = 900; // about 150 spoken words
const usualMinutes = 1;

/** Is this a video, and not a text to speak? */
export function isVideo(job: MediaJob): job is VideoJob {
  // What a caller without types hands in may be anything; the check of the rules comes later.
  return isRecord(job) && 'workflowType' in job;
}

/** The brand kit that a video asks for. */
export function brandOf(job: MediaJob): string | undefined {
  return isVideo(job) ? job.brandId : undefined;
}

/** About how long the result plays, in minutes: what the order of a queue goes by. */
export function estimatedMinutes(job: MediaJob): number {
  const minutes = minutesOf(job);
  return Number.isFinite(minutes) ? minutes : usualMinutes;
}

function minutesOf(job: unknown): number {
  const { content, duration, playbackRate, workflowType } = isRecord(job) ? job : {};
  if (typeof duration === 'number') return duration;
  const isSpoken = workflowType === undefined || workflowType === 'script';
  if (!isSpoken || typeof content !== 'string') return usualMinutes;
  return content.length / charactersPerMinute / Number(playbackRate ?? 1);
}
