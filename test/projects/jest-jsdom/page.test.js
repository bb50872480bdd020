const { MessagingClient } = require('postreel');
const { createTracker } = require('postreel/tracker');

const baseUrl = 'https://service.test';

test('jsdom has none of what a client needs', () => {
  expect([typeof fetch, typeof TextEncoder, typeof ReadableStream]).toEqual(
    Array(3).fill('undefined'),
  );
});

test('a call says that there is no fetch, and what to do', async () => {
  const messaging = new MessagingClient({ apiKey: 'pk_test', baseUrl });
  const call = messaging.track({ email: 'ann@example.com', event: 'seen' });
  await expect(call).rejects.toMatchObject({
    name: 'ConfigurationError',
    outcome: 'not-sent',
    message: expect.stringMatching(/no `fetch`.*environment 'node'/),
  });
});

test('the tracker takes events in and does not hang', async () => {
  const tracker = createTracker({ publicKey: 'pk_test', baseUrl, email: 'ann@example.com' });
  tracker.track('seen');
  expect(await tracker.flush({ timeout: 100 })).toBe(false);
  tracker.dispose();
});
