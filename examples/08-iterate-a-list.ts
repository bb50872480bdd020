// Reads every contact. The next page is fetched while you use the current one.
// Run: npx tsx --env-file=.env 08-iterate-a-list.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const plans = new Map<unknown, number>();
for await (const { data } of messaging.contacts.list({}, { priority: 'bulk' })) {
  plans.set(data?.['plan'], (plans.get(data?.['plan']) ?? 0) + 1);
}
console.log(plans);

const page = await messaging.contacts.list({ limit: 5 });
console.log(`${page.items.length} of ${page.total ?? 'many'}`);

const newest = await messaging.events.list().first();
console.log(newest ?? 'no events yet');
