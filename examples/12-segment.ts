// Groups contacts by a condition and by hand.
// Run: npx tsx --env-file=.env 12-segment.ts
import { MessagingClient } from 'postreel';

const { segments } = new MessagingClient();

const pros = await segments.create({
  name: 'Pro customers',
  type: 'DYNAMIC',
  condition: { field: 'data.plan', operator: 'equals', value: 'pro' },
  trackMembership: true,
});
await segments.compute(pros.id); // fires entry and exit events
console.log(`${(await segments.get(pros.id)).memberCount} pro customers`);

const guests = await segments.create({ name: 'Guests', type: 'STATIC' });
await segments.members.add(guests.id, {
  emails: ['ann@example.com', 'flo@example.com'],
  createMissing: true,
});
for await (const { email } of segments.members.list(guests.id)) {
  console.log(email);
}
