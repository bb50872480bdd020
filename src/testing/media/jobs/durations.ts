import type { MediaFile } from '../types.js';

const wordsPerMinute = 150;

/** How long a file plays, in seconds: what was asked for, or what its text takes to read. */
export function lengthOf(job: Pick<MediaFile, 'settings' | 'brand'>): number {
  const { duration, content, playbackRate, workflowType } = job.settings;
  const rate = typeof playbackRate === 'number' ? playbackRate : 1;
  // media, Brand kit behaviour: intro and outro lengthen the video.
  const extra = (job.brand?.introSeconds ?? 0) + (job.brand?.outroSeconds ?? 0);
  if (typeof duration === 'number') {
    return duration * 60 + extra;
  }
  const isRead = typeof content === 'string' && workflowType !== 'url';
  return Math.ceil((isRead ? (countWords(content) * 60) / wordsPerMinute : 60) / rate) + extra;
}

/** About what services of this kind take: two minutes per minute of video, seconds for speech. */
export function usualDurationMs({ kind, lengthSeconds, settings }: MediaFile): number {
  if (kind === 'video') {
    return 60_000 + 2_000 * lengthSeconds;
  }
  const length = typeof settings.content === 'string' ? settings.content.length : 0;
  return 4_000 + 2 * length;
}

const countWords = (content: string) => content.split(/\s+/).filter(Boolean).length;
