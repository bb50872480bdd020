import { isRecord } from '../../core/values.js';
import type { AudioRequest, VideoJob } from './types.js';

/** A video, or text to be spoken. */
export type MediaJob = VideoJob | AudioRequest;

const charactersPerMinute = 900; // about 150 spoken words
const usualMinutes = 1;

/** Is this a video, rather than speech? */
export function isVideo(job: MediaJob): job is VideoJob {
  // Plain JavaScript may pass anything; the rules are checked later.
  return isRecord(job) && 'workflowType' in job;
}

/** Adds `workflowFormat` to a video: the service requires it, though it has only one value. */
export function withFormat(job: VideoJob): VideoJob {
  const isComplete = !isVideo(job) || job.workflowFormat !== undefined || 'toJSON' in job;
  return isComplete ? job : { ...job, workflowFormat: 'video' };
}

/** The requested length of a video in minutes ("subject to the plan's max export length"), or 0. */
export function durationOf(job: MediaJob): number {
  const { duration } = isVideo(job) ? job : {};
  return typeof duration === 'number' ? duration : 0;
}

/** The approximate length of the result, in minutes. A queue submits the longest jobs first. */
export function estimatedMinutes(job: MediaJob): number {
  const minutes = minutesOf(job);
  return Number.isFinite(minutes) ? minutes : usualMinutes;
}

function minutesOf(job: unknown): number {
  const { content, duration, playbackRate, workflowType } = isRecord(job) ? job : {};
  if (typeof duration === 'number') {
    return duration;
  }
  const isSpoken = workflowType === undefined || workflowType === 'script';
  if (!isSpoken || typeof content !== 'string') {
    return usualMinutes;
  }
  return content.length / charactersPerMinute / Number(playbackRate ?? 1);
}
