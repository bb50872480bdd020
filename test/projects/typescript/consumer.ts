import { isApiError, MediaClient, MessagingClient } from 'postreel';

export async function main(): Promise<string | undefined> {
  const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
  const messaging = new MessagingClient({ apiKey: 'sk_test_key' });
  await messaging.send(mail);
  for await (const contact of messaging.contacts.list()) {
    console.log(contact.email.length);
  }
  const media = new MediaClient({ apiKey: 'media_key' });
  const [job] = await media.generate.video({
    payload: [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'v_1' }],
  });
  const file = await media.waitForFile(job?.fileId ?? '').catch((error: unknown) => {
    if (isApiError(error)) {
      console.log(error.code, error.status, error.outcome);
    }
  });
  return file?.url;
}
