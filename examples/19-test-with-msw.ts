// Tests code that creates its client itself: MSW answers for the service.
// Run: npm install msw && npx tsx --test 19-test-with-msw.ts
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setupServer } from 'msw/node';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';

const fake = createFakeMessaging({ clock: { mode: 'real' } }); // the client runs in real time
process.env['MESSAGING_BASE_URL'] = fake.baseUrl;
process.env['MESSAGING_API_KEY'] = fake.secretKey;
const server = setupServer(...(await fake.handlers()));

/** The code under test. */
async function signUp(email: string): Promise<void> {
  const messaging = new MessagingClient();
  await messaging.track({ email, event: 'signed_up' });
}

before(() => server.listen({ onUnhandledRequest: 'error' }));
beforeEach(() => fake.reset());
after(() => server.close());

void test('tracks a sign-up', async () => {
  await signUp('ann@example.com');
  assert.deepEqual(
    fake.project.events.map(({ name }) => name),
    ['signed_up'],
  );
});

void test('survives a busy service', async () => {
  fake.fail('POST /v1/track', { status: 429, retryAfter: 1 });
  await signUp('ann@example.com');
  assert.equal(fake.requests.length, 2);
});
