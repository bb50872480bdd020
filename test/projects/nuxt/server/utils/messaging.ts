import { MessagingClient } from 'postreel';

let client: MessagingClient | undefined;

// Made when it is first wanted: a build has no keys.
export function useMessaging(): MessagingClient {
  client ??= new MessagingClient();
  return client;
}
