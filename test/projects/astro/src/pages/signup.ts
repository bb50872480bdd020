import type { APIRoute } from 'astro';
import { isPostreelError } from 'postreel';
import { messaging } from '../messaging';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export const POST: APIRoute = async () => {
  try {
    const { emails } = await messaging.send(mail);
    return Response.json({ sent: emails.length }, { status: 202 });
  } catch (error) {
    console.error(error);
    // The error's own `status` is about your key and your request, not about the visitor's.
    const mayBeSent = isPostreelError(error) && error.outcome === 'unknown';
    return Response.json({ mayBeSent }, { status: 502 });
  }
};
