import { MessagingClient, type MessagingOptions } from 'postreel';
import { createFakeMessaging, type FakeMessagingOptions } from 'postreel/testing';

/** A fake of the messaging service, and clients that talk to it without a socket. */
export function faked(options: FakeMessagingOptions = {}) {
  const fake = createFakeMessaging(options);
  const { baseUrl, fetch } = fake;
  const messaging = (more: MessagingOptions = {}) =>
    new MessagingClient({ apiKey: fake.secretKey, baseUrl, fetch, ...more });
  return { fake, messaging };
}
