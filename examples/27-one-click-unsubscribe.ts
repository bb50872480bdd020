// Sends a newsletter with one-click unsubscribe (RFC 8058): mail programs show a button that posts to your page.
// First: echo "UNSUBSCRIBE_SECRET=$(openssl rand -hex 32)" >> .env
// Run: npx tsx --env-file=.env 27-one-click-unsubscribe.ts
import { createHmac } from 'node:crypto';
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const page = 'https://shop.example.com/unsubscribe';
const secret = process.env['UNSUBSCRIBE_SECRET'];
if (!secret) {
  throw new Error('UNSUBSCRIBE_SECRET is not set.');
}
const tokenOf = (email: string) => createHmac('sha256', secret).update(email).digest('base64url');

/** The link of one recipient: it unsubscribes only that recipient. */
export function linkFor(email: string): string {
  return `${page}?${new URLSearchParams({ email, token: tokenOf(email) }).toString()}`;
}

/** Your page. The button posts; a GET may come from a link scanner, and only shows a form. */
export async function unsubscribe(request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const email = query.get('email') ?? '';
  const isReal = query.get('token') === tokenOf(email);
  if (!isReal || request.method !== 'POST') {
    const form = isReal ? '<form method="post"><button>Unsubscribe</button></form>' : '';
    return new Response(form, { status: isReal ? 200 : 400 });
  }
  const contact = await messaging.contacts.findByEmail(email); // `undefined` if it no longer exists
  await (contact && messaging.contacts.update(contact.id, { subscribed: false }));
  return new Response('You are unsubscribed.');
}

const recipients = ['ann@example.com', 'bea@example.com'].map((email) => ({
  email,
  headers: {
    'List-Unsubscribe': `<${linkFor(email)}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  },
}));
const news = { from: 'shop@example.com', subject: 'News', body: '<p>Spring is here.</p>' };
console.log(await messaging.sendEach(recipients, news));
const click = new Request(linkFor('ann@example.com'), { method: 'POST' });
console.log(await (await unsubscribe(click)).text());
