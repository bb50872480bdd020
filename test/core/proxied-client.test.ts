import { MediaClient, MessagingClient } from 'postreel';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

/** As Vue's `reactive()` and DI containers do it: whatever is read from a proxy is one, too. */
function deepProxy<T extends object>(target: T): T {
  return new Proxy(target, {
    get(owner, name, receiver) {
      const value: unknown = Reflect.get(owner, name, receiver);
      return typeof value === 'object' && value !== null ? deepProxy(value) : value;
    },
  });
}

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

describe('a client behind a proxy', () => {
  it('can send, and call its resources', async () => {
    const fake = createFakeMessaging();
    const { secretKey: apiKey, baseUrl, fetch } = fake;
    const messaging = deepProxy(new MessagingClient({ apiKey, baseUrl, fetch }));
    await messaging.send(mail);
    const [contact] = await messaging.contacts.list().toArray();
    await messaging.contacts.fields.list();
    expect([fake.outbox.length, contact?.email]).toEqual([1, 'ann@example.com']);
  });

  it('makes a video', async () => {
    const { apiKey, baseUrl, fetch } = createFakeMedia();
    const media = deepProxy(new MediaClient({ apiKey, baseUrl, fetch }));
    const job = { workflowType: 'idea', prompt: 'Bees', voiceId: 'voice_1' } as const;
    expect((await media.generate.video(job)).fileId).toMatch(/^file_/);
  });
});

/* eslint-disable @typescript-eslint/unbound-method -- that they work unbound is the subject */
describe('a method of a client', () => {
  it('works as a separate function', async () => {
    const fake = createFakeMessaging();
    const { secretKey: apiKey, baseUrl, fetch } = fake;
    const { send, contacts } = new MessagingClient({ apiKey, baseUrl, fetch });
    const { create } = contacts;
    await create({ email: 'bea@example.com' });
    await send(mail);
    expect(fake.project.contacts.size).toBe(2);
  });

  it('is overridden by a subclass', async () => {
    class Quiet extends MessagingClient {
      override track(...[body, options]: Parameters<MessagingClient['track']>) {
        return super.track({ email: body.email, event: 'quiet' }, options);
      }
    }
    const fake = createFakeMessaging();
    const { secretKey: apiKey, baseUrl, fetch } = fake;
    const { track } = new Quiet({ apiKey, baseUrl, fetch });
    await track({ email: 'ann@example.com', event: 'loud' });
    expect(fake.project.events.map(({ name }) => name)).toEqual(['quiet']);
  });
});
