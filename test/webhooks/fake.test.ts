import { MediaClient } from 'postreel';
import { createFakeMedia, startFakeServer, type FakeMediaOptions } from 'postreel/testing';
import { createInbox, signWebhookUrl } from 'postreel/webhooks';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { secret } from '../support/webhooks/callbacks.js';

const speech = { content: 'Good morning!', voiceId: 'voice_1' };
const base = 'https://shop.example/media-done';

/** A fake service whose callbacks go into an inbox that confirms them by a status request. */
function connectFake(options: FakeMediaOptions = {}) {
  const fake = createFakeMedia({
    ...options,
    callback: (input, init) => inbox.fetch(new Request(input, init)),
    clock: { start: Date.now() },
  });
  const { apiKey, baseUrl, fetch } = fake;
  const media = new MediaClient({ apiKey, baseUrl, fetch });
  const status = vi.fn((fileId: string) => media.generate.status({ fileId }));
  const inbox = createInbox({ secret, confirm: true, status });
  return { fake, media, inbox, status };
}

describe('the callback of an audio job', () => {
  it('ends the wait for its file and is confirmed', async () => {
    const { fake, media, inbox, status } = connectFake();
    const job = await media.generate.audio({ ...speech, webhook: await inbox.url(base) });
    const wait = inbox.wait(job.fileId);
    await fake.advance('1m');
    await expect(wait).resolves.toMatchObject({
      fileId: job.fileId,
      status: 'success',
      url: fake.files[0]?.download,
    });
    expect(fake.callbacks).toMatchObject([{ status: 204 }]);
    expect(status).toHaveBeenCalledOnce();
  });

  it.each(['error', 'canceled'] as const)('reports a job that ends in %s', async (status) => {
    const { fake, media, inbox } = connectFake();
    fake.outcome({ status });
    const job = await media.generate.audio({ ...speech, webhook: await inbox.url(base) });
    await fake.advance('1m');
    await expect(inbox.wait(job.fileId)).resolves.toMatchObject({ status: 'error' });
  });

  it('runs its listener once if the service calls twice, and is answered 204 both times', async () => {
    const { fake, media, inbox } = connectFake({ behavior: { callbacks: 'twice' } });
    const heard: string[] = [];
    inbox.on(({ fileId }) => heard.push(fileId));
    const job = await media.generate.audio({ ...speech, webhook: await inbox.url(base) });
    await fake.advance('1m');
    expect(fake.callbacks).toMatchObject([{ status: 204 }, { status: 204 }]);
    expect(heard).toEqual([job.fileId]);
  });

  it('is rejected if its address was signed with another secret', async () => {
    const { fake, media } = connectFake();
    const webhook = await signWebhookUrl(base, { secret: 'a secret of somebody else' });
    await media.generate.audio({ ...speech, webhook });
    await fake.advance('1m');
    expect(fake.callbacks).toMatchObject([{ status: 401 }]);
  });

  it('arrives over real sockets', async () => {
    const inbox = createInbox({ secret });
    const server = createServer((request, response) => void inbox.node(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const fake = await startFakeServer({ media: { durations: () => 1, queueTime: 0 } });
    try {
      const { port } = server.address() as AddressInfo; // as: it listens on a port
      const media = new MediaClient({ apiKey: fake.media.apiKey, baseUrl: fake.mediaUrl });
      const webhook = await inbox.url(`http://127.0.0.1:${port}/media-done`);
      const { fileId } = await media.generate.audio({ ...speech, webhook });
      const { url } = await inbox.wait(fileId);
      expect(url).toBe(fake.media.files[0]?.download);
    } finally {
      await fake.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
