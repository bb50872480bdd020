import { memoryJournal } from 'postreel';
import { describe, expect, it } from 'vitest';
import { acquainted, collect, filesOf, videos } from '../../support/media/queue-helpers.js';
import {
  ending,
  fakeService,
  inTime,
  pass,
  useFakeTime,
  video,
  videoEndpoint,
} from '../../support/media/fake-time.js';

useFakeTime();

/** A client whose first call of a named queue was lost: the service made the files all the same. */
async function withLostCall(count: number) {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  const client = await acquainted(media({ journal }));
  await client.journal.acknowledge(fake.files[0]!.fileId);
  fake.fail(videoEndpoint, { loseAnswer: true });
  await inTime(collect(client.queue(videos(count), { name: 'batch' })));
  const [intent] = (await client.journal.pending()).unknown;
  const run = () => inTime(collect(media({ journal }).queue(videos(count), { name: 'batch' })));
  return { fake, client, intent: intent!, run };
}

describe('a call that may still be answered', () => {
  /** A journal whose process was killed while its call was under way. */
  async function killed() {
    const { fake, media } = fakeService();
    const journal = memoryJournal();
    const dying = media({ journal, fetch: () => new Promise(() => undefined) });
    dying.generate.video({ payload: videos(2) }).catch(() => undefined);
    await pass(1_000);
    return { fake, client: media({ journal }) };
  }

  it('is listed right after a kill, and is unknown when its claim has expired', async () => {
    const { client } = await killed();
    const { jobs, unknown, mayBeAnswered } = await client.resumeAll();
    expect([jobs, unknown]).toEqual([[], []]);
    expect(mayBeAnswered).toEqual([
      {
        id: expect.any(String) as string,
        jobs: videos(2),
        unknownAt: new Date(Date.now() + 139_000).toISOString(),
      },
    ]);
    expect((await client.journal.pending()).mayBeAnswered).toEqual(mayBeAnswered);
    await pass(140_000);
    const later = await client.journal.pending();
    expect(later.mayBeAnswered).toEqual([]);
    expect(later.unknown).toMatchObject([{ id: mayBeAnswered[0]!.id, jobs: videos(2) }]);
  });

  it('cannot be dismissed or resolved', async () => {
    const { client } = await killed();
    const [call] = (await client.journal.pending()).mayBeAnswered;
    const refused = { code: 'ONCE_UNDER_WAY', outcome: 'not-sent' };
    await expect(client.journal.dismiss(call!.id)).rejects.toMatchObject(refused);
    await expect(client.journal.resolve(call!.id, ['file_1', null])).rejects.toMatchObject(refused);
    expect((await client.journal.pending()).mayBeAnswered).toHaveLength(1);
    await pass(140_000);
    await client.journal.dismiss(call!.id);
    expect((await client.journal.pending()).unknown).toEqual([]);
  });
});

describe('an unknown call', () => {
  it('can be resolved: its files are waited for, and nothing is submitted again', async () => {
    const { fake, client, intent, run } = await withLostCall(2);
    const fileIds = filesOf(fake).map(({ fileId }) => fileId);
    await client.journal.resolve(intent.id, fileIds);
    const { jobs, unknown } = await client.journal.pending();
    expect(jobs.map(({ fileId }) => fileId).sort()).toEqual(fileIds);
    expect(unknown).toEqual([]);
    const results = await run();
    expect(results.map(({ file }) => file?.fileId)).toEqual(fileIds);
    expect(filesOf(fake)).toHaveLength(2);
  });

  it('can be resolved in part: the job with `null` stays unknown', async () => {
    const { fake, client, intent, run } = await withLostCall(2);
    const [, second] = filesOf(fake);
    await client.journal.resolve(intent.id, [null, second!.fileId]);
    const { unknown } = await client.journal.pending();
    expect(unknown.flatMap(({ jobs }) => jobs)).toEqual([videos(2)[0]]);
    const results = await run();
    expect(results.map(({ file }) => file?.fileId)).toEqual([undefined, second!.fileId]);
    expect(results[0]!.error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  });

  it('can be dismissed: its jobs are submitted again', async () => {
    const { fake, client, intent, run } = await withLostCall(2);
    await client.journal.dismiss(intent.id);
    expect((await client.journal.pending()).unknown).toEqual([]);
    expect((await run()).filter(({ file }) => file)).toHaveLength(2);
    expect(filesOf(fake)).toHaveLength(4);
  });

  it.each([
    ['too few ids', ['file_000002']],
    ['too many ids', ['file_000002', 'file_000003', 'file_000004']],
    ['the same id twice', ['file_000002', 'file_000002']],
  ])('cannot be resolved with %s', async (_, fileIds) => {
    const { client, intent } = await withLostCall(2);
    const { error } = await ending(client.journal.resolve(intent.id, fileIds));
    expect(error).toMatchObject({ name: 'InvalidRequestError' });
    expect((await client.journal.pending()).unknown).toHaveLength(1);
  });

  it('that does not exist cannot be resolved', async () => {
    const client = fakeService().media({ journal: memoryJournal() });
    const { error } = await ending(client.journal.resolve('nothing', []));
    expect(error).toMatchObject({ code: 'CALL_UNKNOWN', outcome: 'not-sent' });
  });
});

it('two projects that share a journal and an account list their own calls of queues', async () => {
  const { fake, media } = fakeService();
  const journal = memoryJournal();
  const [own, other] = ['own', 'other'].map((group) => media({ journal, rateLimit: { group } }));
  fake.fail(videoEndpoint, { loseAnswer: true });
  await inTime(collect(own!.queue(videos(1), { name: 'films' })));
  const [call] = (await own!.journal.pending()).unknown;
  expect((await other!.journal.pending()).unknown).toEqual([]);
  // Dismissing the call would free the key of its job, and the job would be paid for twice.
  await other!.journal.dismiss(call!.id);
  expect((await own!.journal.pending()).unknown).toEqual([call]);
});

describe('a file in the journal', () => {
  it('can be dismissed: it is no longer listed', async () => {
    const { media } = fakeService();
    const client = media({ journal: memoryJournal() });
    const [job] = await inTime(client.generate.video({ payload: [video()] }));
    await client.journal.dismiss(job!.fileId);
    expect((await client.journal.pending()).jobs).toEqual([]);
  });
});
