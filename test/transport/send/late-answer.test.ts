import { expect, it, vi } from 'vitest';
import { mediaOver, messagingOver } from '../../support/clients.js';
import { inTime, useFakeTime } from '../../support/media/fake-time.js';

const speech = { content: 'Good morning!', voiceId: 'voice_1' };
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

useFakeTime();

/** A service that answers after this many seconds, unless the caller aborts the request. */
function answeringAfter(seconds: number, data: unknown) {
  const ends: string[] = [];
  const startedAt = Date.now();
  const at = () => Math.round((Date.now() - startedAt) / 1000);
  const fetch = (_url: unknown, init?: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      setTimeout(() => {
        ends.push(`answered at ${at()}`);
        resolve(Response.json({ success: true, data }));
      }, seconds * 1000);
      init?.signal?.addEventListener('abort', () => {
        ends.push(`given up at ${at()}`);
        reject(init.signal?.reason as Error); // as: the signal above
      });
    });
  return { fetch, ends };
}

it('a paid call may take longer than five minutes if its timeout allows it', async () => {
  const { fetch, ends } = answeringAfter(320, { fileId: 'file_1' });
  const media = mediaOver(fetch, { timeout: 600_000 });
  await expect(inTime(media.generate.audio(speech))).resolves.toMatchObject({ fileId: 'file_1' });
  expect(ends).toEqual(['answered at 320']);
});

it('the response to a paid call is read for five minutes after its caller gave up', async () => {
  const { fetch, ends } = answeringAfter(500, { fileId: 'file_1' });
  const media = mediaOver(fetch, { timeout: 60_000, retries: 0 });
  await expect(inTime(media.generate.audio(speech))).rejects.toMatchObject({
    code: 'TIMEOUT',
    outcome: 'unknown',
  });
  await vi.advanceTimersByTimeAsync(299_000);
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ends).toEqual(['given up at 360']);
});

it('the request of any other call ends with its time limit', async () => {
  const { fetch, ends } = answeringAfter(400, { emails: [] });
  const messaging = messagingOver(fetch, { timeout: 60_000, retries: 0 });
  await expect(inTime(messaging.send(mail))).rejects.toMatchObject({ code: 'TIMEOUT' });
  expect(ends).toEqual(['given up at 60']);
});
