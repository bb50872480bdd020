import { MessagingClient } from 'postreel';

test('sends an email to the service of the environment', async () => {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const { emails } = await new MessagingClient().send(mail);
  expect(emails).toHaveLength(1);
});
