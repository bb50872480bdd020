import { MediaClient, MessagingClient } from 'postreel';
import { startFakeServer } from 'postreel/testing';

/** Where the demo runs. */
export interface Services {
  readonly messaging: MessagingClient;
  readonly media: MediaClient;
  readonly isReal: boolean;
  readonly where: string;
  readonly close: () => Promise<void>;
}

const names = ['MESSAGING_BASE_URL', 'MESSAGING_API_KEY', 'MEDIA_BASE_URL', 'MEDIA_API_KEY'];

/** The services of the environment, or fakes on a port of this machine. */
export async function openServices(): Promise<Services> {
  if (names.every((name) => process.env[name])) {
    const close = () => Promise.resolve();
    const where = 'the services of your environment';
    return {
      messaging: new MessagingClient(),
      media: new MediaClient(),
      isReal: true,
      where,
      close,
    };
  }
  const fake = await startFakeServer({
    messaging: { jobs: { perSecond: 400 } },
    media: { durations: ({ kind }) => (kind === 'video' ? '5s' : '2s'), fileBytes: 2_000_000 },
  });
  return {
    messaging: new MessagingClient({
      apiKey: fake.messaging.secretKey,
      baseUrl: fake.messagingUrl,
    }),
    media: new MediaClient({ apiKey: fake.media.apiKey, baseUrl: fake.mediaUrl }),
    isReal: false,
    where: `fake services at ${fake.url}`,
    close: () => fake.close(),
  };
}
