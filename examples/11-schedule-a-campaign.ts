// Schedules a campaign for tomorrow at nine in Berlin, then cancels it.
// Run: npx tsx --env-file=.env 11-schedule-a-campaign.ts
import { MessagingClient } from 'postreel';

/** A time of tomorrow in a time zone, with the offset of that day: `2027-03-20T09:00:00+01:00`. */
export function tomorrowAt(time: string, timeZone: string, now = new Date()): string {
  const today = now.toLocaleDateString('sv', { timeZone }); // '2027-03-19': the day in that zone
  const noon = new Date(Date.parse(`${today}T12:00:00Z`) + 86_400_000);
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(noon).find(({ type }) => type === 'timeZoneName')?.value;
  const offset = name?.slice(3) || 'Z'; // of 'GMT+01:00', or of 'GMT'
  return `${noon.toISOString().slice(0, 10)}T${time}:00${offset}`;
}

const messaging = new MessagingClient();
const { id } = await messaging.campaigns.create({
  name: 'Tomorrow',
  subject: 'Good morning',
  body: '<p>Good morning!</p>',
  from: 'shop@example.com',
  audienceType: 'FILTERED',
  audienceFilter: { field: 'data.plan', operator: 'equals', value: 'pro' },
});
await messaging.campaigns.schedule(id, tomorrowAt('09:00', 'Europe/Berlin'));
const { status, scheduledAt } = await messaging.campaigns.get(id);
console.log(status, scheduledAt); // the service answers in UTC

await messaging.campaigns.cancel(id);
