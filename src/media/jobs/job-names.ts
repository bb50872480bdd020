import { invalidRequest } from '../../core/errors.js';
import { kindOf } from '../../core/values.js';
import type { MediaJob } from '../generate/media-job.js';
import { hashOf } from './ledger.js';

/**
 * Names the jobs of a queue: by the caller's key, or by the fingerprint of their content. Jobs with equal
 * content and without a key are numbered in their order, so that each has a unique name.
 */
export function jobNamer(key: ((job: MediaJob) => string) | undefined): (job: MediaJob) => string {
  if (key) {
    return (job) => `key ${requireKey(key(job))}`;
  }
  const seen = new Map<string, number>();
  return (job) => {
    const content = hashOf(job);
    const count = seen.get(content) ?? 0;
    seen.set(content, count + 1);
    return `${content} ${count}`;
  };
}

// Plain JavaScript may return anything. With an empty or missing key all jobs would count as one job.
function requireKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') {
    return key;
  }
  const what = key === '' ? 'an empty text' : kindOf(key);
  throw invalidRequest([
    { field: 'key', message: `must return a text that is not empty; got ${what}` },
  ]);
}
