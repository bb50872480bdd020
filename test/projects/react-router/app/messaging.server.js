import { MessagingClient } from 'postreel';

// Once for the whole app: it holds the rate limit. No page can import a file named `.server`.
export const messaging = new MessagingClient();
