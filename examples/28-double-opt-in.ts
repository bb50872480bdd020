// Subscribes a person only after a click in an email (double opt-in).
// First: echo "OPT_IN_SECRET=$(openssl rand -hex 32)" >> .env
// Run: npx tsx --env-file=.env 28-double-opt-in.ts
import { createHmac } from 'node:crypto';
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const page = 'https://shop.example.com/confirm';
const secret = process.env['OPT_IN_SECRET'];
if (!secret) {
  throw new Error('OPT_IN_SECRET is not set.');
}
const tokenOf = (text: string) => createHmac('sha256', secret).update(text).digest('base64url');

/** The link works for this address, for three days. */
export function linkFor(email: string): string {
  const until = String(Date.now() + 3 * 86_400_000);
  return `${page}?${new URLSearchParams({ email, until, token: tokenOf(email + until) }).toString()}`;
}

/**
 * Handles the form of your page. Creates the contact first: `track()` and other calls would
 * subscribe a new one.
 */
export async function signUp(email: string): Promise<void> {
  const known = await messaging.contacts.findByEmail(email);
  if (known?.subscribed) {
    return; // `subscribed: false` would unsubscribe them
  }
  await messaging.contacts.create({ email, subscribed: false });
  const body = `<p><a href="${linkFor(email)}">Yes, send me the news</a></p>`;
  await messaging.send({ from: 'shop@example.com', to: email, subject: 'Please confirm', body });
  await messaging.track({ email, event: 'newsletter.requested' });
}

/** The page behind the link: it shows a button that posts, because scanners open links too. */
export async function confirm({ url, method }: Request): Promise<Response> {
  const { email = '', until = '', token } = Object.fromEntries(new URL(url).searchParams);
  const isReal = token === tokenOf(email + until) && Number(until) > Date.now();
  const isClick = isReal && method === 'POST';
  await (isClick && messaging.contacts.subscribe(email));
  const text = isClick ? 'Welcome!' : '<form method="post"><button>Subscribe</button></form>';
  return new Response(isReal ? text : '', { status: isReal ? 200 : 400 });
}
await signUp('new.reader@example.com');
const click = new Request(linkFor('new.reader@example.com'), { method: 'POST' });
console.log(await (await confirm(click)).text());
