import { MediaClient, MessagingClient } from 'postreel';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { createTracker } from 'postreel/tracker';

/** Plain JavaScript can pass any value: these functions are untyped on purpose. */
export type Loose = Record<string, (...args: unknown[]) => unknown>;

function loose(subject: unknown): Loose {
  return subject as Loose;
}

/** A mistake, the code that makes it, and the text that its error must contain. */
export type Misuse = readonly [mistake: string, run: () => unknown, says: string | RegExp];

export const baseUrl = 'https://service.test';
export const answer = () => Promise.resolve(Response.json({}));
export const base = { apiKey: 'sk_test', baseUrl, fetch: answer, rateLimit: false };
export const messaging = (options: unknown) => new MessagingClient(options as never);
export const media = (options: unknown) => new MediaClient(options as never);
export const client = messaging(base);
export const speaking = media({ ...base, apiKey: 'media' });
export const m = loose(client);
export const g = loose(speaking.generate);
export const contacts = loose(client.contacts);
export const campaigns = loose(client.campaigns);
export const d = loose(speaking);

export const email = 'ann@example.com';
export const mail = { from: 'shop@example.com', to: email, subject: 'Hi', body: 'Hi' };
export const send = (change: object) => m['send']?.({ ...mail, ...change });
export const job = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'v' };
export const video = (change: object) => g['video']?.({ payload: [{ ...job, ...change }] });
export const audio = (change: object) => g['audio']?.({ content: 'Hi', voiceId: 'v', ...change });
export const campaign = {
  name: 'A',
  subject: 'A',
  body: 'A',
  from: mail.from,
  audienceType: 'ALL',
};
/** A client of the fake service, which rejects what the real one would. */
export function ofFake(change: object = {}, path = ''): MessagingClient {
  const { secretKey: apiKey, baseUrl, fetch } = createFakeMessaging();
  return messaging({ apiKey, baseUrl: `${baseUrl}${path}`, fetch, ...change });
}
export function mediaOfFake(): MediaClient {
  const { apiKey, baseUrl, fetch } = createFakeMedia();
  return media({ apiKey, baseUrl, fetch });
}
export const tracker = (options: unknown) => loose(createTracker(options as never));
export async function first(jobs: unknown, options?: object): Promise<void> {
  for await (const { error } of speaking.queue(jobs as never, options)) {
    throw error;
  }
}
