import { isIdNumber, isRecord } from '../../core/values.js';

/** The id of a job that was queued. The document shows it for one of the calls only. */
export function jobIdOf(answer: unknown): string | undefined {
  if (!isRecord(answer)) {
    return undefined;
  }
  const { job } = answer;
  const id =
    answer['jobId'] ?? answer['job_id'] ?? answer['id'] ?? (isRecord(job) ? job['id'] : job);
  return (typeof id === 'string' && id !== '') || isIdNumber(id) ? String(id) : undefined;
}

// The document shows no fields of jobs: these are usual names, without case and underscores.
const failures = /^(failed|failures|failedcount|errors|errorcount|skipped|invalid|rejected)$/;
const totals =
  /^(total|totalrows|totalcount|processed|processedcount|imported|succeeded|successful)$/;
const changes = /^(created|updated|inserted|unchanged)$/;

/** Is every row done, as far as the job counts them? */
export function isDoneForAll(job: unknown, rows: number): boolean {
  const counts = countsIn(job);
  const sums = counts.filter(({ name }) => totals.test(name)).map(({ count }) => count);
  const changed = counts.filter(({ name }) => changes.test(name)).map(({ count }) => count);
  if (changed.length > 0) {
    sums.push(changed.reduce((sum, count) => sum + count, 0));
  }
  const hasFailures = counts.some(({ name, count }) => failures.test(name) && count > 0);
  return !hasFailures && sums.every((sum) => sum === rows);
}

/** Does the job of a failure count that no row took effect? */
export function hasDoneNothing(job: unknown): boolean {
  const counts = countsIn(job).filter(
    ({ name }) => !name.startsWith('total') && !failures.test(name),
  );
  const done = counts.filter(({ name }) => totals.test(name) || changes.test(name));
  return done.length > 0 && done.every(({ count }) => count === 0);
}

interface Count {
  readonly name: string;
  readonly count: number;
}

function countsIn(value: unknown, depth = 0): Count[] {
  if (!isRecord(value) || depth > 2) {
    return [];
  }
  return Object.entries(value).flatMap(([name, field]) => {
    const plain = name.toLowerCase().replace(/[^a-z]/g, '');
    if (Array.isArray(field)) {
      return [{ name: plain, count: field.length }];
    }
    const count = typeof field === 'string' && field !== '' ? Number(field) : field;
    return typeof count === 'number' && Number.isFinite(count)
      ? [{ name: plain, count }]
      : countsIn(field, depth + 1);
  });
}
