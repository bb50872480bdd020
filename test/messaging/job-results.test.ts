import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

const wait = { interval: 1 };

/** The contacts of a service that ends every job with this record. */
function endingWith(job: object) {
  const { fetch } = answering(({ method }) => (method === 'POST' ? { jobId: 'job_1' } : job));
  return messagingOver(fetch, { retries: 0 }).contacts;
}

describe('the counts of a finished import of three rows', () => {
  it.each<[string, object, object]>([
    ['all created or updated', { createdCount: 2, updatedCount: 1 }, { done: 3 }],
    ['all created, none counted as updated', { createdCount: 3 }, { done: 3 }],
    ['all updated, none counted as created', { updatedCount: 3 }, { done: 3 }],
    ['one row in neither count', { createdCount: 1, updatedCount: 1 }, { unknown: 3 }],
    ['more rows than were sent', { createdCount: 2, updatedCount: 2 }, { unknown: 3 }],
    ['another total than was sent', { total: 4, successCount: 3 }, { unknown: 3 }],
  ])('%s', async (_, result, expected) => {
    const rows = ['a', 'b', 'c'].map((name) => ({ email: `${name}@example.com` }));
    const contacts = endingWith({ state: 'completed', result });
    const report = await contacts.importAll(rows, { newContacts: 'subscribed', wait });
    const { done, failed, unknown } = report;
    const counts = { done, failed: failed.length, unknown: unknown.length };
    expect(counts).toEqual({ done: 0, failed: 0, unknown: 0, ...expected });
  });
});

describe('a job that failed as a whole', () => {
  it.each<[string, object, 'failed' | 'unknown']>([
    ['counts every row as failed', { failureCount: 2 }, 'failed'],
    ['counts one of two rows as failed', { failureCount: 1 }, 'unknown'],
    ['counts one row as done', { successCount: 1, failureCount: 1 }, 'unknown'],
    ['counts one row as unchanged', { successCount: 0, unchangedCount: 1 }, 'unknown'],
  ])('%s', async (_, result, list) => {
    const contacts = endingWith({ state: 'failed', result });
    const report = await contacts.unsubscribeAll(['con_1', 'con_2'], { wait });
    expect(report.done).toBe(0);
    expect(report[list]).toHaveLength(2);
  });
});

it('an unknown row has the error JOB_INCOMPLETE with the outcome `unknown`', async () => {
  const contacts = endingWith({ state: 'completed', result: { failureCount: 1 } });
  const report = await contacts.unsubscribeAll(['con_1'], { wait });
  expect(report.unknown).toMatchObject([{ error: { code: 'JOB_INCOMPLETE', outcome: 'unknown' } }]);
});

describe('a row that a job refuses', () => {
  it.each([
    ['an empty reason', ''],
    ['no reason', undefined],
    ['a reason that is not a text', 7],
  ])('for %s', async (_, error) => {
    const errors = [{ contactId: 'con_1', error }];
    const contacts = endingWith({ state: 'completed', result: { failureCount: 1, errors } });
    const { failed } = await contacts.unsubscribeAll(['con_1'], { wait });
    expect(failed).toHaveLength(1);
    expect(String(failed[0]?.error)).toContain('no reason');
  });
});

describe('a contact in a delete that was repeated after a lost response', () => {
  async function repeatedDelete(errors: readonly object[]) {
    let starts = 0;
    const result = { failureCount: errors.length, errors };
    const { fetch } = answering(({ method }) => {
      if (method !== 'POST') {
        return { state: 'completed', result };
      }
      const headers = { 'retry-after': '0' };
      return starts++ === 0 ? Response.json({}, { status: 503, headers }) : { jobId: 'job_1' };
    });
    return messagingOver(fetch).contacts.deleteAll(['con_1'], { wait });
  }

  it.each(['Contact not found', 'not_found', 'NOTFOUND'])('is done after "%s"', async (error) => {
    expect(await repeatedDelete([{ contactId: 'con_1', error }])).toMatchObject({ done: 1 });
  });

  it.each(['The contact is locked', '', 404])('has failed after "%s"', async (error) => {
    const report = await repeatedDelete([{ contactId: 'con_1', error }]);
    expect(report).toMatchObject({ done: 0, failed: [{ row: 'con_1' }] });
  });
});
