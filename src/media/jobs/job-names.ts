import { fingerprint } from '../../contract/fingerprint.js';
import { isRecord } from '../../contract/records.js';
import type { MediaJob } from '../generate/media-job.js';

/** The name of a job in a named queue. */
export interface JobName {
  readonly name: string;
  /** What an earlier version of this package called it. */
  readonly formerName: string | undefined;
}

/**
 * Names the jobs of a queue: by the caller's key, or by what they are, whatever the order of their
 * fields. Equal jobs are counted, so that each has a name of its own.
 */
export function jobNamer(
  queue: string,
  key: ((job: MediaJob) => string) | undefined,
): (job: MediaJob) => JobName {
  if (key) {
    return (job) => ({ name: `${queue}/key/${key(job)}`, formerName: undefined });
  }
  const nameOf = counted(queue, canonicalJson);
  const formerNameOf = counted(queue, (job) => JSON.stringify([job]));
  return (job) => ({ name: nameOf(job), formerName: formerNameOf(job) });
}

function counted(queue: string, textOf: (job: MediaJob) => string): (job: MediaJob) => string {
  const seen = new Map<string, number>();
  return (job) => {
    const content = fingerprint(textOf(job));
    const count = seen.get(content) ?? 0;
    seen.set(content, count + 1);
    return `${queue}/${content}/${count}`;
  };
}

/** JSON that is the same for equal values, whatever the order of their fields. */
function canonicalJson(value: unknown): string {
  return JSON.stringify([value], (_, field: unknown) => {
    if (!isRecord(field)) {
      return field;
    }
    return Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
