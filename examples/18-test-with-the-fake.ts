// Tests your code against the fake: no network, no keys, and faults on demand.
// Run: npx tsx --test 18-test-with-the-fake.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';

/** The code under test: it must never mail a person twice. */
async function welcome(messaging: MessagingClient, email: string): Promise<string> {
  const { error } = await messaging
    .send({ from: 'shop@example.com', to: email, subject: 'Welcome', body: '<p>Hello!</p>' })
    .safe();
  return error?.outcome ?? 'sent';
}

function setUp() {
  const fake = createFakeMessaging();
  return { fake, messaging: new MessagingClient(fake.options) };
}

void test('sends one mail', async () => {
  const { fake, messaging } = setUp();
  assert.equal(await welcome(messaging, 'ann@example.com'), 'sent');
  assert.deepEqual(
    fake.outbox.map(({ to }) => to),
    ['ann@example.com'],
  );
});

void test('does not send again if the response is lost', async () => {
  const { fake, messaging } = setUp();
  fake.fail('POST /v1/send', { loseAnswer: true });
  assert.equal(await welcome(messaging, 'ann@example.com'), 'unknown');
  assert.equal(fake.outbox.length, 1);
});
