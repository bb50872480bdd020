import { MESSAGING_API_KEY, MESSAGING_BASE_URL } from '$app/env/private';
import { MessagingClient } from 'postreel';

let client;

// Created on first use, which never happens in a build.
export const messaging = () =>
  (client ??= new MessagingClient({ apiKey: MESSAGING_API_KEY, baseUrl: MESSAGING_BASE_URL }));
