import { messaging } from '../../messaging.js';

export const dynamic = 'force-dynamic';
export const runtime = 'nodejs';
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

export async function GET() {
  const { emails } = await messaging().send(mail);
  return Response.json({ sent: emails.length });
}
