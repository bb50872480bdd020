// Sends an email.
// Run: npx tsx --env-file=.env 01-send.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const { emails } = await messaging.send({
  from: { name: 'Shop', email: 'shop@example.com' },
  to: 'ann@example.com',
  subject: 'Your order is on its way',
  body: '<p>Hello {{name ?? "there"}}!</p>',
  data: { name: 'Ann', lastOrder: new Date() }, // stored on the contact
});

for (const { contact, email } of emails) {
  console.log(`${contact.email} got ${email}`);
}
