// Sends a campaign to all contacts and watches its status.
// Run: npx tsx --env-file=.env 10-campaign.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const { id } = await messaging.campaigns.create({
  name: 'Spring',
  subject: 'Spring is here',
  body: '<p>Hello {{name ?? "there"}}!</p>',
  from: 'shop@example.com',
  fromName: 'Shop',
  audienceType: 'ALL',
});
await messaging.campaigns.sendTest(id, { email: 'shop@example.com' });

// Without `scheduledFor` it is sent now. It is never sent twice: a lost response is an error.
await messaging.campaigns.send(id, {});

let status: string;
do {
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  ({ status } = await messaging.campaigns.get(id));
  console.log(status);
} while (status === 'SENDING');
console.log(await messaging.campaigns.stats(id));
