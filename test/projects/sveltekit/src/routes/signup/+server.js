import { json } from '@sveltejs/kit';
import { isPostreelError } from 'postreel';
import { messaging } from '../../lib/server/messaging.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export async function POST() {
  try {
    const { emails } = await messaging().send(mail);
    return json({ sent: emails.length }, { status: 202 });
  } catch (error) {
    console.error(error);
    // The error's own `status` is about your key and your request, not about the visitor's.
    const mayBeSent = isPostreelError(error) && error.outcome === 'unknown';
    return json({ mayBeSent }, { status: 502 });
  }
}
