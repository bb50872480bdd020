import { expect, test } from 'bun:test';
import { MessagingClient } from 'postreel';
import { saveTo } from 'postreel/node';

test('sends an email', async () => {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const { emails } = await new MessagingClient().send(mail);
  expect(emails).toHaveLength(1);
  expect(saveTo).toBeFunction();
});
