import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, test } from 'vitest';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

test('sends an email', async () => {
  const { emails } = await new MessagingClient().send(mail);
  expect(emails).toHaveLength(1);
});

test('sends to the fake', async () => {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  await new MessagingClient({ apiKey, baseUrl, fetch }).send(mail);
  expect(fake.outbox).toHaveLength(1);
});
