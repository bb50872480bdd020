import { MediaClient } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { createInbox } from 'postreel/webhooks';
import { expect, it, vi } from 'vitest';
import { mediaOver } from '../../support/clients.js';
import { inTime } from '../../support/media/fake-time.js';

const secret = 'a secret of enough characters';

it('checks the status when the callback arrives, and before that only after a minute', async () => {
  const inbox = createInbox({ secret });
  const fake = createFakeMedia({
    durations: () => '55s',
    callback: (input, init) => inbox.fetch(new Request(input, init)),
  });
  const media = new MediaClient(fake.options);
  const webhook = await inbox.url('https://shop.example.com/callback');
  const { fileId } = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1', webhook });
  const startedAt = fake.clock.now();
  const file = await media.waitForFile(fileId, { inbox });
  expect(file.url).toContain(fileId);
  expect(fake.clock.now() - startedAt).toBe(55_000);
  expect(fake.requests.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(2);
});

it('checks the status every minute when no callback arrives', async () => {
  const inbox = createInbox({ secret });
  const fake = createFakeMedia({ durations: () => '150s' });
  const media = new MediaClient(fake.options);
  const { fileId } = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
  const startedAt = fake.clock.now();
  await media.waitForFile(fileId, { inbox });
  expect(fake.clock.now() - startedAt).toBeGreaterThan(150_000);
  expect(fake.requests.filter(({ method }) => method === 'GET')).toHaveLength(4);
});

it('checks the status at the usual intervals when it lags behind the callback', async () => {
  const inbox = createInbox({ secret });
  const url = await inbox.url('https://shop.example.com/callback');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  try {
    const fake = createFakeMedia({ clock: { now: () => Date.now() }, durations: () => '40s' });
    const media = mediaOver(fake.fetch, { apiKey: fake.apiKey, baseUrl: fake.baseUrl });
    const { fileId } = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
    const wait = media.waitForFile(fileId, { inbox });
    await vi.advanceTimersByTimeAsync(30_000);
    const body = { success: true, data: { id: fileId, file: 'https://cdn.example/early.mp3' } };
    // A signature takes real time, in which the clock stands.
    await inbox.fetch(new Request(url, { method: 'POST', body: JSON.stringify(body) }));
    const comesAt = Date.now();
    const file = await inTime(wait);
    expect(Date.now() - comesAt).toBeLessThanOrEqual(16_000);
    // The callback is not signed: what counts is the address in the status record.
    expect(file.url).not.toBe('https://cdn.example/early.mp3');
  } finally {
    vi.useRealTimers();
  }
});
