import { MediaClient, MessagingClient } from 'postreel';
import { createFakeMedia } from 'postreel/testing';

test('sends an email', async () => {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const { emails } = await new MessagingClient().send(mail);
  expect(emails).toHaveLength(1);
});

test('makes speech with the fake', async () => {
  const { apiKey, baseUrl, fetch } = createFakeMedia();
  const media = new MediaClient({ apiKey, baseUrl, fetch });
  const job = await media.generate.audio({ content: 'Hello', voiceId: 'voice_1' });
  expect(typeof job.fileId).toBe('string');
});
