// Tracks an event and reads it back. A public key may track but not read.
// Run: npx tsx --env-file=.env 04-track.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const { contact } = await messaging.track({
  email: 'ann@example.com',
  event: 'order.paid',
  data: { total: 42, currency: 'EUR' },
});

for await (const event of messaging.events.listForContact(contact)) {
  console.log(event);
}
