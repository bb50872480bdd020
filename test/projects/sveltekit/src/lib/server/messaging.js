import { MESSAGING_API_KEY, MESSAGING_BASE_URL } from '$app/env/private';
import { MessagingClient } from 'postreel';

let client;

// Made when it is first wanted, which a build never does.
export const messaging = () =>
  (client ??= new MessagingClient({ apiKey: MESSAGING_API_KEY, baseUrl: MESSAGING_BASE_URL }));
