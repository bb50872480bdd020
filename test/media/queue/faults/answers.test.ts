import { memoryJournal, type MismatchEvent, type QueueResult } from 'postreel';
import { describe, expect, it } from 'vitest';
import { acquainted, calls, collect, videos } from '../../../support/media/queue-helpers.js';
import {
  fakeService,
  inTime,
  useFakeTime,
  videoEndpoint,
} from '../../../support/media/fake-time.js';

useFakeTime();

/** Runs a queue whose first call gets this answer; the files exist as the service says. */
async function answered(count: number, body: unknown) {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  const client = await acquainted(media({ journal }));
  await client.journal.acknowledge(fake.files[0]!.fileId);
  fake.fail(videoEndpoint, { status: 200, body });
  const mismatches: MismatchEvent[] = [];
  client.on('mismatch', (event) => mismatches.push(event));
  const results = await inTime(collect(client.queue(videos(count), { timeout: 60_000 })));
  return { fake, client, results, mismatches, pending: await client.journal.pending() };
}

const fileIdsOf = (results: readonly QueueResult[]) => results.map(({ job }) => job?.fileId);

describe('the response to a call of a queue', () => {
  it('with an error status and ids counts as accepted: the ids are kept, and nothing is submitted again', async () => {
    const data = { folderId: 'folder_1', filesCreated: ['file_a', 'file_b', 'file_c'] };
    const { fake, results, pending } = await answered(5, { success: false, data });
    expect(calls(fake)).toBe(2);
    expect(results).toHaveLength(5);
    for (const { error } of results) {
      expect(error).toMatchObject({ outcome: 'unknown', fileIds: ['file_a', 'file_b', 'file_c'] });
    }
    expect(pending.jobs.map(({ fileId }) => fileId)).toEqual(['file_a', 'file_b', 'file_c']);
    expect(pending.unknown.flatMap(({ jobs }) => jobs)).toHaveLength(5);
  });

  it('with a missing id keeps the positions: no job gets the file of another one', async () => {
    const data = { folderId: 'folder_1', filesCreated: ['file_a', null, 'file_c'] };
    const { fake, results, pending } = await answered(3, { success: true, data });
    expect(calls(fake)).toBe(2);
    expect(fileIdsOf(results)).toEqual(['file_a', undefined, 'file_c']);
    expect(results[1]!.error).toMatchObject({ code: 'FILE_IDS_MISSING' });
    expect(pending.unknown.flatMap(({ jobs }) => jobs)).toEqual([videos(3)[1]]);
  });

  it('with a repeated id assigns it to neither job, and lists it as pending', async () => {
    const data = { folderId: 'folder_1', filesCreated: ['file_a', 'file_b', 'file_b'] };
    const { fake, results, pending } = await answered(3, { success: true, data });
    expect(calls(fake)).toBe(2);
    expect(fileIdsOf(results)).toEqual(['file_a', undefined, undefined]);
    expect(pending.jobs.map(({ fileId }) => fileId)).toEqual(['file_a', 'file_b']);
    expect(pending.unknown.flatMap(({ jobs }) => jobs)).toHaveLength(2);
  });

  it('with numeric ids keeps them as texts, because the files are paid for', async () => {
    const data = { folderId: 'folder_1', filesCreated: [7, 8] };
    const { results, mismatches } = await answered(2, { success: true, data });
    expect(fileIdsOf(results)).toEqual(['7', '8']);
    expect(mismatches).toMatchObject([
      { issues: [{ field: 'filesCreated[0]' }, { field: 'filesCreated[1]' }] },
    ]);
  });

  it('with a number that JSON has rounded has no id for its job', async () => {
    const data = { folderId: 'folder_1', filesCreated: [2 ** 53 + 2, 'file_b'] };
    const { results } = await answered(2, { success: true, data });
    expect(fileIdsOf(results)).toEqual([undefined, 'file_b']);
    expect(results[0]!.error).toMatchObject({ code: 'FILE_IDS_MISSING', outcome: 'unknown' });
  });

  it('without any id causes an error that has the raw response', async () => {
    const { results } = await answered(1, { success: true, data: { note: 'scheduled' } });
    expect(results[0]!.error).toMatchObject({
      code: 'FILE_IDS_MISSING',
      raw: { note: 'scheduled' },
    });
  });
});
