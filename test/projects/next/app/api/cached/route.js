import { messaging } from '../../messaging.js';

// Next.js keeps what `fetch` answers here, of an equal POST too: both mails must leave all the same.
export const fetchCache = 'default-cache';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export async function POST() {
  const first = await messaging().send(mail);
  const second = await messaging().send(mail);
  return Response.json({ sent: first.emails.length + second.emails.length });
}
