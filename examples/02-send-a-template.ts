// Creates a template once and sends it with different values each time.
// Run: npx tsx --env-file=.env 02-send-a-template.ts
import { MessagingClient, transient } from 'postreel';

const messaging = new MessagingClient();

const template = await messaging.templates.create({
  name: 'Sign-in code',
  subject: 'Your code is {{code}}',
  body: '<p>Hello {{name ?? "there"}}, your code is {{code}}.</p>',
  type: 'TRANSACTIONAL',
  from: 'shop@example.com',
});

await messaging.send({
  template: template.id,
  to: 'ann@example.com',
  data: { code: transient('493 201') }, // for this email only, not stored on the contact
});
console.log(`sent ${template.name}`);
