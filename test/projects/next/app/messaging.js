import { MessagingClient } from 'postreel';

let client;

// `next build` imports every route, in a place that has no keys: made when it is first wanted.
export const messaging = () => (client ??= new MessagingClient());
