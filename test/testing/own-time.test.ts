import { MediaClient, MessagingClient } from 'postreel';
import { createClock, createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { ending, speech, video } from '../support/media/fake-time.js';

const minute = 60_000;

/** A call, and how far it has moved the time of the fake. */
async function movedBy<T>(
  { clock }: { readonly clock: { now(): number } },
  call: () => PromiseLike<T>,
): Promise<{ value?: T; error?: unknown; movedMs: number; tookMs: number }> {
  const startedAt = clock.now();
  const realStart = performance.now();
  const ended = await ending(call());
  return { ...ended, movedMs: clock.now() - startedAt, tookMs: performance.now() - realStart };
}

function mediaScene(options: Parameters<typeof createFakeMedia>[0] = {}) {
  const fake = createFakeMedia(options);
  return { fake, media: new MediaClient(fake.options) };
}

function messagingScene(options: Parameters<typeof createFakeMessaging>[0] = {}) {
  const fake = createFakeMessaging(options);
  return { fake, messaging: new MessagingClient(fake.options) };
}

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

describe('a client of a fake', () => {
  it('is made with its options', async () => {
    const { fake, messaging } = messagingScene();
    await messaging.send(mail);
    const { media } = mediaScene();
    const job = await media.generate.audio(speech());
    expect([fake.outbox.length, job.fileId]).toEqual([1, 'file_000001']);
  });

  it('waits for a file without waiting', async () => {
    const { fake, media } = mediaScene();
    const job = await media.generate.video(video());
    const { value, movedMs, tookMs } = await movedBy(fake, () => job.waitForFile());
    expect(value?.fileId).toBe(job.fileId);
    expect(movedMs).toBeGreaterThan(minute);
    expect(tookMs).toBeLessThan(500);
  });

  it('makes the eleventh video ten minutes later, at once', async () => {
    const { fake, media } = mediaScene();
    const make = () => media.generate.video(video());
    for (let count = 0; count < 10; count++) {
      await make();
    }
    const { movedMs, tookMs } = await movedBy(fake, make);
    expect(movedMs).toBe(10 * minute);
    expect(tookMs).toBeLessThan(500);
    expect(fake.requests.map(({ status }) => status)).toEqual(Array(11).fill(200));
  });

  it('sends 1100 emails in a second of real time', async () => {
    const { fake, messaging } = messagingScene();
    const sends = () => Promise.all(Array.from({ length: 1100 }, async () => messaging.send(mail)));
    const { value, movedMs, error } = await movedBy(fake, sends);
    expect(error).toBeUndefined();
    expect(value).toHaveLength(1100);
    expect(movedMs).toBe(minute);
    expect(fake.outbox).toHaveLength(1100);
  });

  it('retries after a 503 without waiting', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('GET /contacts', { status: 503, times: 2 });
    const { value, movedMs } = await movedBy(fake, () => messaging.contacts.list());
    expect(value?.items).toEqual([]);
    expect(movedMs).toBeGreaterThanOrEqual(1_500);
    expect(fake.requests).toHaveLength(3);
  });

  it('keeps to `timeout` when there is no answer', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('POST /v1/send', { hang: true });
    const { error, movedMs, tookMs } = await movedBy(fake, () =>
      messaging.send(mail, { timeout: 20_000 }),
    );
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
    expect(movedMs).toBe(20_000);
    expect(tookMs).toBeLessThan(500);
  });

  it('keeps to `deadline`, whether there is no answer or always a 503', async () => {
    const { fake, messaging } = messagingScene();
    const list = () => messaging.contacts.list({}, { deadline: 8_000 });
    fake.fail('GET /contacts', { hang: true });
    const hanging = await movedBy(fake, list);
    expect(hanging.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'rejected' });
    expect(hanging.movedMs).toBe(8_000);
    fake.fail('GET /contacts', { status: 503, retryAfter: 5, times: Infinity });
    const failing = await movedBy(fake, list);
    expect(failing.error).toMatchObject({ status: 503, retryAfterMs: 5_000 });
    expect(failing.movedMs).toBeGreaterThanOrEqual(5_000);
    expect(failing.movedMs).toBeLessThan(8_000);
  });

  it('sees a slow answer come late', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('*', { slow: 5_000 });
    const slow = await movedBy(fake, () => messaging.contacts.list());
    fake.fail('*', { slow: 5_000 });
    const tooSlow = await movedBy(fake, () =>
      messaging.contacts.list({}, { timeout: 4_000, retries: 0 }),
    );
    expect([slow.movedMs, tooSlow.movedMs]).toEqual([5_000, 4_000]);
    expect(tooSlow.error).toMatchObject({ code: 'TIMEOUT' });
  });
});
