import { inspect } from 'node:util';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';

const email = 'ann@example.com';
const content = { from: 'shop@example.com', subject: 'Hi', body: 'Hi' };

/** Everything that a client says to its logger, by level. */
function logging() {
  const fake = createFakeMessaging();
  const said = { debug: '', info: '', warn: '', error: '' };
  const write = (level: keyof typeof said) => (message: string, facts?: unknown) => {
    said[level] += `${message} ${inspect(facts, { depth: 9 })}\n`;
  };
  const logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  const retries = 1;
  return {
    fake,
    said,
    messaging: new MessagingClient({ apiKey, baseUrl, fetch, logger, retries }),
  };
}

it('addresses of people are in no line above debug, whatever goes wrong', async () => {
  const { fake, said, messaging } = logging();
  fake.fail('GET /contacts', {
    status: 503,
    retryAfter: 0,
    body: { error: `no ${email}`, message: 'no' },
  });
  fake.fail('POST /contacts', { status: 409, body: { error: `${email} is taken` }, after: 1 });
  await messaging.contacts.create({ email, data: { email, note: '' } as object });
  await messaging.contacts.create({ email }).safe();
  await messaging.contacts.findByEmail(email);
  await messaging.contacts.lookup({ emails: [email] });
  await messaging.send({ ...content, to: email, replyTo: email } as typeof content & {
    to: string;
  });
  await messaging.send({ ...content, to: `Ann <${email}>` }).safe();
  await messaging.track({ email, event: 'paid', emial: email });
  await messaging.sendEach([email, 'bea@example.com'], content);
  const above = said.info + said.warn + said.error;
  expect(above).toContain('retry');
  expect(above).toContain('warning');
  expect(above).not.toMatch(/ann(@|%40)example|bea(@|%40)example/i);
});
