import { fingerprint, isRecord } from '../../core/values.js';
import { wireValue } from '../../core/body.js';
import { isVideo, withFormat, type MediaJob } from '../generate/media-job.js';

/**
 * Names the jobs of a queue: by the caller's key, or by what they are. Equal jobs without a key are
 * counted, whatever stands between them, so that each has a name of its own.
 */
export function jobNamer(key: ((job: MediaJob) => string) | undefined): (job: MediaJob) => string {
  if (key) {
    return (job) => `key ${key(job)}`;
  }
  const seen = new Map<string, number>();
  return (job) => {
    const content = fingerprint(contentOf(job));
    const count = seen.get(content) ?? 0;
    seen.set(content, count + 1);
    return `${content} ${count}`;
  };
}

/**
 * The content of a job: the same text for equal jobs, whatever the order of their fields. What cannot be
 * sent is an `InvalidRequestError`.
 */
export function contentOf(job: MediaJob): string {
  const content = wireValue(isVideo(job) ? withFormat(job) : job);
  return JSON.stringify([content], (_, field: unknown) => {
    if (!isRecord(field)) {
      return field;
    }
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
