import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaClient, MessagingClient, type VideoJob } from 'postreel';
import { fileJournal } from 'postreel/node';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { beforeEach, expect, it } from 'vitest';
import { emptyFolder } from '../support/empty-folder.js';
import { fetchFromAddress } from '../support/once/moved.js';

// Written by the code of commit 229c9793: by both services, with calls in every state, a mailing, a
// queue, and three claims of killed processes, one of them of a call without a time limit.
const written = 'test/support/once/journal-229c9793.jsonl';
const baseUrl = 'https://messaging.example.com';
const mediaUrl = 'https://media.example.com';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const speech = (content: string) => ({ content, voiceId: 'voice_1' });
const video = (prompt: string): VideoJob => ({
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt,
  voiceId: 'voice_1',
});

let fake: ReturnType<typeof createFakeMessaging>;
let mediaFake: ReturnType<typeof createFakeMedia>;
beforeEach(async () => {
  fake = createFakeMessaging();
  mediaFake = createFakeMedia();
  // The service has the files that the earlier version made.
  const maker = new MediaClient(mediaFake.options);
  for (const text of ['answered', 'unknown', 'no key']) {
    await maker.generate.audio(speech(text));
  }
  await maker.generate.video({ payload: [video('one'), video('two')] });
});

/** Clients on this journal, `ms` milliseconds after its last line was written. */
function openAfter(ms: number) {
  const lines = readFileSync(written, 'utf8').trimEnd().split('\n');
  const last = (JSON.parse(lines.at(-1)!) as unknown[]).at(-1) as number;
  const later = Date.now() - ms - last;
  const path = join(emptyFolder(), 'journal.jsonl');
  const shifted = lines.map((line) => {
    const fields = JSON.parse(line) as unknown[];
    const at = fields.at(-1);
    return JSON.stringify(typeof at === 'number' ? [...fields.slice(0, -1), at + later] : fields);
  });
  writeFileSync(path, `${shifted.join('\n')}\n`);
  const journal = fileJournal(path);
  return {
    messaging: new MessagingClient({
      ...fake.options,
      baseUrl,
      fetch: fetchFromAddress(fake, baseUrl),
      journal,
    }),
    media: new MediaClient({
      ...mediaFake.options,
      baseUrl: mediaUrl,
      fetch: fetchFromAddress(mediaFake, mediaUrl),
      journal,
    }),
  };
}
const codeOf = (call: PromiseLike<unknown>) =>
  call.then(
    () => 'done',
    (error: unknown) => (error as { code?: string }).code,
  );
const paidCalls = () => mediaFake.requests.filter(({ method }) => method === 'POST').length;

it('a journal of commit 229c9793 prevents every duplicate, and no key conflicts', async () => {
  const { messaging, media } = openAfter(2 * 3_600_000);
  const before = paidCalls();
  const again = await messaging.send(mail, { once: 'answered' }).withResponse();
  expect(again).toMatchObject({ replayed: true, data: { emails: [{}] } });
  for (const once of ['unknown', 'claimed', 'unlimited']) {
    expect(await codeOf(messaging.send(mail, { once })), once).toBe('OUTCOME_UNKNOWN');
  }
  const news = { from: 'shop@example.com', subject: 'News', body: '<p>News</p>' };
  const people = ['ann@example.com', 'Bob@Example.com'];
  const report = await messaging.sendEach(people, news, { once: 'news-03' });
  expect(report).toMatchObject({ done: 2, earlier: 2, failed: [], unknown: [] });
  expect(fake.requests).toEqual([]);

  const job = await media.generate.audio(speech('answered'), { once: 'answered' });
  expect(job.fileId).toBe(mediaFake.files[0]!.fileId);
  for (const once of ['unknown', 'claimed']) {
    const call = media.generate.audio(speech(once), { once });
    expect(await codeOf(call), once).toBe('OUTCOME_UNKNOWN');
  }
  const { jobs, unknown, mayBeAnswered } = await media.journal.pending();
  expect(jobs.map(({ fileId }) => fileId)).toEqual(
    [mediaFake.files[0], mediaFake.files[2]].map((file) => file!.fileId),
  );
  expect(unknown.flatMap((call) => call.jobs)).toEqual([speech('unknown'), speech('claimed')]);
  expect(mayBeAnswered).toEqual([]);
  const queue = media.queue([video('two'), video('one')], {
    name: 'films',
    key: (one) => ('prompt' in one ? String(one.prompt) : ''),
  });
  const files = [];
  for await (const { error, file } of queue) {
    expect(error).toBeUndefined();
    files.push(file?.fileId);
  }
  expect(files.sort()).toEqual(mediaFake.files.slice(3).map(({ fileId }) => fileId));
  expect(paidCalls()).toBe(before);
});

it('the live claims in a journal of commit 229c9793 make other processes wait', async () => {
  const { messaging, media } = openAfter(1_000);
  const again = { retry: { unknownOutcome: true }, deadline: 10_000 };
  for (const once of ['claimed', 'unlimited']) {
    const call = messaging.send(mail, { once, ...again });
    expect(await codeOf(call), once).toBe('DEADLINE_EXCEEDED');
  }
  const call = media.generate.audio(speech('claimed'), { once: 'claimed', ...again });
  expect(await codeOf(call)).toBe('DEADLINE_EXCEEDED');
  expect((await media.journal.pending()).mayBeAnswered).toMatchObject([
    { jobs: [speech('claimed')] },
  ]);
  expect(fake.requests).toEqual([]);
  expect(mediaFake.files).toHaveLength(5);
});
