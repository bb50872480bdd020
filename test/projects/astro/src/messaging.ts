import { MessagingClient } from 'postreel';

// Once for the whole server: it holds the rate limit.
export const messaging = new MessagingClient();
