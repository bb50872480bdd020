import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const offline = messagingOver(() => {
  throw new Error('must not reach the network');
});

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

describe('bulk calls', () => {
  it.each([
    ['bulkSubscribe', 'subscribeAll'],
    ['bulkUnsubscribe', 'unsubscribeAll'],
    ['bulkDelete', 'deleteAll'],
  ] as const)('%s rejects more than 1000 contacts and names %s', async (method, all) => {
    const call = offline.contacts[method]({ contactIds: manyIds(1001) });
    const message = `takes at most 1000 items; got 1001. Use \`contacts.${all}()\``;
    await expect(call).rejects.toMatchObject(refusal('contactIds', message));
  });

  const repeated = ['bulkUnsubscribe', 'bulkDelete'] as const;

  it.each(repeated)('%s takes 1000 contacts, and again after a 503', async (method) => {
    const answers = [unavailable(), Response.json({ jobId: 'job_1' })];
    const { fetch, requests } = answering(() => answers.shift());
    const { jobId } = await messagingOver(fetch).contacts[method]({ contactIds: manyIds(1000) });
    expect(jobId).toBe('job_1');
    expect(requests).toHaveLength(2);
  });
});

describe('importing', () => {
  const tooLarge = 5 * 1024 * 1024 + 1;

  it.each([
    ['bytes', new Uint8Array(tooLarge)],
    ['a blob', new Blob([new Uint8Array(tooLarge)])],
    ['a text', { data: 'x'.repeat(tooLarge) }],
  ])('rejects more than 5 MB as %s', async (_, file) => {
    await expect(offline.contacts.import(file)).rejects.toMatchObject(
      refusal('file', 'must be at most 5 MB; got 5.01 MB'),
    );
  });

  it('rejects a value that is not a file', async () => {
    const call = offline.contacts.import('contacts.csv' as unknown as Blob); // wrong on purpose
    await expect(call).rejects.toMatchObject(
      refusal(
        'file',
        'must be a File, a Blob, bytes or { data, filename, contentType }; got a text: for a path use `csvFile()` or `imageFile()` of postreel/node',
      ),
    );
  });

  it('sends a CSV file as a form, under its own name', async () => {
    const { fetch, requests } = answering();
    const data = 'email\nann@example.com\n';
    await messagingOver(fetch).contacts.import({ data, filename: 'people.csv' });
    const file = (await requests[0]?.formData())?.get('file') as File; // a form's file
    expect(file).toMatchObject({ name: 'people.csv', type: 'text/csv' });
    await expect(file.text()).resolves.toBe(data);
  });

  it('never imports a file twice', async () => {
    const { fetch, requests } = answering(unavailable);
    const call = messagingOver(fetch).contacts.import(new Blob(['email\n']));
    await expect(call).rejects.toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});

describe('waiting for jobs', () => {
  it.each([
    ['an import', 'waitForImport', '/contacts/import/job_1'],
    ['a bulk job', 'waitForBulkJob', '/contacts/bulk/job_1'],
  ] as const)('checks %s until it is done', async (_, method, path) => {
    const statuses = ['processing', 'completed'];
    const { fetch, requests } = answering(() => ({ status: statuses.shift(), progress: 0.5 }));
    const seen: unknown[] = [];
    const job = await messagingOver(fetch).contacts[method]('job_1', {
      interval: 1,
      onUpdate: ({ status, progress }) => seen.push([status, progress]),
    });
    expect(job).toMatchObject({ status: 'completed' });
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([path, path]);
    expect(requests.map(({ cache }) => cache)).toEqual(['no-store', 'no-store']);
    expect(seen[0]).toEqual(['processing', 0.5]);
  });

  it('rejects if the job failed', async () => {
    const { fetch } = answering(() => ({ state: 'FAILED', reason: 'no email column' }));
    await expect(messagingOver(fetch).contacts.waitForImport('job_1')).rejects.toMatchObject({
      name: 'JobFailedError',
      jobId: 'job_1',
      job: { reason: 'no email column' },
    });
  });

  it('lets `isDone` decide when the job is done', async () => {
    const { fetch } = answering(() => ({ status: 'ended', imported: 3 }));
    const isDone = (job: object) => 'imported' in job;
    const job = await messagingOver(fetch).contacts.waitForImport('job_1', { isDone });
    expect(job).toEqual({ status: 'ended', imported: 3 });
  });
});

function manyIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `con_${index}`);
}

function unavailable(): Response {
  return Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });
}
