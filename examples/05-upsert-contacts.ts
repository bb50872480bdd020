// Creates contacts, or updates those that already exist.
// Run: npx tsx --env-file=.env 05-upsert-contacts.ts
import { MessagingClient } from 'postreel';

const messaging = new MessagingClient();

const people = [
  { email: 'ann@example.com', data: { plan: 'pro' } },
  { email: 'new@example.com', data: { plan: 'free' } },
];

// The client keeps to the rate limit, so they can all start at once.
const contacts = await Promise.all(people.map((person) => messaging.contacts.create(person)));

for (const { email, _meta } of contacts) {
  console.log(email, _meta.isNew ? 'created' : 'updated');
}
