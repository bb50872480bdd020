import { MessagingClient } from 'postreel';

let client;

// `next build` imports every route in an environment without keys, so the client is created on first use.
export const messaging = () => (client ??= new MessagingClient());
