import { isPostreelError, MessagingClient, RateLimitError } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it, vi } from 'vitest';

/** A client whose calls are held back, and the error of an earlier call that ends them. */
function held() {
  const fake = createFakeMessaging({ clock: { mode: 'manual' } });
  const messaging = new MessagingClient(fake.options);
  fake.fail('*', { hang: true });
  return { fake, messaging };
}

it('an abort whose reason is the 429 of another call does not pause the project', async () => {
  const { fake, messaging } = held();
  const controller = new AbortController();
  const call = messaging.contacts.get('con_1', { signal: controller.signal });
  await vi.waitFor(() => expect(fake.requests).toHaveLength(1));
  const reason = new RateLimitError('Rate limit exceeded.', { status: 429, retryAfterMs: 60_000 });
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect(messaging.rateLimit.state()?.resetsAt).toBeUndefined();
});

it('a lost DELETE does not count as done when it is aborted with a 404 as the reason', async () => {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient(fake.options);
  const failures = [{ drop: true }, { hang: true }] as const;
  failures.forEach((fault) => fake.fail('DELETE /contacts/{id}', fault));
  const missing: unknown = await messaging.contacts
    .get('con_none')
    .catch((error: unknown) => error);
  expect(isPostreelError(missing) && missing.status).toBe(404);
  const controller = new AbortController();
  messaging.on('request', ({ attempt }) => {
    if (attempt === 2) {
      setImmediate(() => controller.abort(missing));
    }
  });
  const call = messaging.contacts.delete('con_1', { signal: controller.signal });
  await expect(call).rejects.toBe(missing);
  expect(call.outcome).toBe('unknown');
});

it('the warning about a listener of two events names the event for which it threw', async () => {
  const printed: unknown[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation((message) => void printed.push(message));
  const messaging = new MessagingClient(createFakeMessaging().options);
  const listener = () => {
    throw new Error('full disk');
  };
  messaging.on('retry', listener).on('request', listener);
  await messaging.contacts.list();
  expect(printed).toEqual([expect.stringContaining('A listener of `request` threw')]);
});

it.each([Symbol('stop'), 'stop', undefined, null, { why: 'stop' }])(
  'a call that is aborted with the reason %o rejects with that reason',
  async (reason) => {
    const { fake, messaging } = held();
    const controller = new AbortController();
    const call = messaging.contacts.get('con_1', { signal: controller.signal });
    await vi.waitFor(() => expect(fake.requests).toHaveLength(1));
    controller.abort(reason);
    await expect(call).rejects.toBe(controller.signal.reason);
  },
);
