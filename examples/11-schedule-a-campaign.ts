// Schedules a campaign for tomorrow at nine, then cancels it.
// Run: npx tsx --env-file=.env 11-schedule-a-campaign.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const { id } = await messaging.campaigns.create({
  name: 'Tomorrow',
  subject: 'Good morning',
  body: '<p>Good morning!</p>',
  from: 'shop@example.com',
  audienceType: 'FILTERED',
  audienceFilter: { field: 'data.plan', operator: 'equals', value: 'pro' },
});

const scheduledFor = new Date();
scheduledFor.setDate(scheduledFor.getDate() + 1);
scheduledFor.setHours(9, 0, 0, 0);

await messaging.campaigns.send(id, { scheduledFor });
const { status, scheduledAt } = await messaging.campaigns.get(id);
console.log(status, scheduledAt);

await messaging.campaigns.cancel(id);
