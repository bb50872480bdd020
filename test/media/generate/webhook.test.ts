import { MediaClient, type WarningEvent } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

/** The warnings of a client, of a service at this address, about its callbacks. */
function client(baseUrl?: string) {
  const callback = () => Promise.resolve(new Response());
  const fake = createFakeMedia({ callback, ...(baseUrl && { baseUrl }) });
  const media = new MediaClient(fake.options);
  const warnings: WarningEvent[] = [];
  media.on('warning', (warning) => warnings.push(warning));
  const speak = (webhook: string) =>
    media.generate.audio({ content: 'Hi!', voiceId: 'voice_1', webhook });
  return { media, warnings, speak };
}

const remote = 'https://media.example.com';

describe('a webhook that the service cannot reach', () => {
  it.each([
    ...['http://localhost:3000/done', 'https://app.localhost/done', 'http://127.0.0.1/done'],
    ...['http://10.1.2.3/done', 'http://172.20.0.1/done', 'http://192.168.1.7:8080/done'],
    ...['http://[::1]:3000/done', 'http://[fd00::1]/done', 'http://server/done'],
    ...['http://0.0.0.0:3000/done', 'http://169.254.1.1/done', 'http://shop.local/done'],
  ])('causes one warning per client: %s', async (webhook) => {
    const { warnings, speak } = client(remote);
    await speak(webhook);
    await speak(webhook);
    const { host } = new URL(webhook);
    expect(warnings).toMatchObject([
      { code: 'WEBHOOK_NOT_PUBLIC', message: expect.stringContaining(host) as string },
    ]);
  });

  it('causes a warning in a queue and in a long text, too', async () => {
    const webhook = 'http://localhost:3000/done';
    const queued = client(remote);
    const jobs = [{ content: 'Hi!', voiceId: 'voice_1', webhook }];
    for await (const { error } of queued.media.queue(jobs)) {
      expect(error).toBeUndefined();
    }
    expect(queued.warnings).toMatchObject([{ code: 'WEBHOOK_NOT_PUBLIC' }]);
    const long = client(remote);
    const content = 'It was a dark and stormy night. '.repeat(400);
    await long.media.generate.longAudio({ content, voiceId: 'voice_1', webhook });
    expect(long.warnings).toMatchObject([{ code: 'WEBHOOK_NOT_PUBLIC' }]);
  });

  it.each([
    ['a public address', remote, 'https://shop.example/done'],
    ['a public number', remote, 'http://172.32.0.1/done'],
    ['a fake in memory', undefined, 'http://localhost:3000/done'],
    ['a fake on this machine', 'http://127.0.0.1:4010/media', 'http://localhost:3000/done'],
  ])('causes none with %s', async (_, baseUrl, webhook) => {
    const { warnings, speak } = client(baseUrl);
    await speak(webhook);
    expect(warnings).toEqual([]);
  });
});
