import { MessagingClient } from 'postreel';

let client: MessagingClient | undefined;

// Created on first use: a build has no keys.
export function useMessaging(): MessagingClient {
  client ??= new MessagingClient();
  return client;
}
