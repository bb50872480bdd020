// Sends an email with one-click unsubscribe (RFC 8058): mail programs show a button that posts to your page.
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

const to = 'ann@example.com';
const news = { from: 'shop@example.com', subject: 'News', body: '<p>Spring is here.</p>' };
await messaging.send({ ...news, to, headers: headersFor(to) });
const [link = ''] = /https[^>]+/.exec(headersFor(to)['List-Unsubscribe'] ?? '') ?? [];
console.log(await (await unsubscribe(new Request(link, { method: 'POST' }))).text());
