// Keeps contacts in sync with a database table: sends changed rows, and resubscribes no contact.
// Run: npm install @electric-sql/pglite && npx tsx --env-file=.env 25-contacts-from-a-database.ts
import { PGlite } from '@electric-sql/pglite';
import { MessagingClient } from 'postreel';

interface Fields {
  plan: string;
  seats: number;
}

const { contacts } = new MessagingClient<Fields>();
const database = await PGlite.create();
await database.exec(`
  create table people (email text primary key, plan text, seats int, has_left bool default false, synced bool default false);
  insert into people (email, plan, seats) values ('gil@example.com', 'pro', 5), ('ida@example.com', 'free', 1);
`);

async function sync(): Promise<void> {
  const changed = 'select email, plan, seats, has_left from people where not synced';
  const { rows } = await database.query<Fields & { email: string; has_left: boolean }>(changed);
  for (const { email, plan, seats, has_left: hasLeft } of rows) {
    const data = { plan, seats };
    const known = await contacts.findByEmail(email);
    if (known) {
      // Unsubscribed contacts stay unsubscribed: `subscribed` is sent only to unsubscribe.
      await contacts.update(known.id, hasLeft ? { data, subscribed: false } : { data });
    } else {
      await contacts.create({ email, data, subscribed: !hasLeft });
    }
    await database.query('update people set synced = true where email = $1', [email]);
  }
  console.log(`synced ${rows.length} rows`);
}

await sync();
await database.exec(`
  update people set plan = 'team', synced = false where email = 'gil@example.com';
  update people set has_left = true, synced = false where email = 'ida@example.com';
`);
await sync();
console.log((await contacts.findByEmail('gil@example.com'))?.data, await contacts.list().first());
await database.close();
