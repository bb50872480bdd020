import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';

const limits = { limit: 100, windowMs: 60_000 };

it.each(['sliding', 'fixed', 'bucket'] as const)(
  'a client uses everything that a %s limit allows, and gets no 429',
  async (algorithm) => {
    const fake = createFakeMessaging({ rateLimit: { ...limits, algorithm } });
    const client = new MessagingClient({ ...fake.options, rateLimit: limits });
    const statuses: unknown[] = [];
    client.on('response', ({ status }) => statuses.push(status));
    const startedAt = fake.clock.now();
    await Promise.all(Array.from({ length: 500 }, () => client.contacts.list()));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(statuses).toHaveLength(500);
    // The first hundred requests are sent at once, each later one a window after an earlier one.
    expect(fake.clock.now() - startedAt).toBeLessThan((4 * limits.windowMs) / 0.98);
  },
);
