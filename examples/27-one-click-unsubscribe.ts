// Sends a newsletter with one-click unsubscribe (RFC 8058): mail programs show a button that posts to your page.
// Run: npx tsx --env-file=.env 27-one-click-unsubscribe.ts
import { createHmac } from 'node:crypto';
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();
const page = 'https://shop.example.com/unsubscribe';
const secret = process.env['UNSUBSCRIBE_SECRET'] ?? 'only for this example';
const tokenOf = (email: string) => createHmac('sha256', secret).update(email).digest('base64url');

/** Of the email to one recipient: nobody else's link works for them. */
export function headersFor(email: string): Record<string, string> {
  const query = new URLSearchParams({ email, token: tokenOf(email) }).toString();
  return {
    'List-Unsubscribe': `<${page}?${query}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
}

/** Your page. The button posts; a GET may come from a scanner of links, and only shows a form. */
export async function unsubscribe(request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const email = query.get('email') ?? '';
  const isReal = query.get('token') === tokenOf(email);
  if (!isReal || request.method !== 'POST') {
    const form = isReal ? '<form method="post"><button>Unsubscribe</button></form>' : '';
    return new Response(form, { status: isReal ? 200 : 400 });
  }
  const contact = await messaging.contacts.findByEmail(email); // or they are gone
  await (contact && messaging.contacts.update(contact.id, { subscribed: false }));
  return new Response('You are unsubscribed.');
}

const readers = ['ann@example.com', 'bea@example.com'];
const { done } = await messaging.sendEach(
  readers.map((email) => ({ email, headers: headersFor(email) })),
  { from: 'shop@example.com', subject: 'News', body: '<p>Spring is here.</p>' },
);
console.log(`${done} readers have the news.`);
// What the mail program of the first one does when the button is clicked:
const [link = ''] =
  /https[^>]+/.exec(headersFor('ann@example.com')['List-Unsubscribe'] ?? '') ?? [];
console.log(await (await unsubscribe(new Request(link, { method: 'POST' }))).text());
