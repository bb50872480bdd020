import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, test } from 'vitest';

/** The code under test. */
async function welcome(messaging: MessagingClient, email: string): Promise<void> {
  await messaging.send({ from: 'shop@example.com', to: email, subject: 'Hi', body: '<p>Hi!</p>' });
}

test('sends an email', async () => {
  const fake = createFakeMessaging();
  await welcome(new MessagingClient(fake.options), 'ann@example.com');
  expect(fake.outbox).toMatchObject([{ to: 'ann@example.com', subject: 'Hi' }]);
});

test('sends it when the service is less busy, but the test does not wait', async () => {
  const fake = createFakeMessaging();
  fake.fail('POST /v1/send', { status: 429, retryAfter: 30 });
  await welcome(new MessagingClient(fake.options), 'ann@example.com');
  expect(fake.outbox).toHaveLength(1);
});
