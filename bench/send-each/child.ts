// Mails many people with a journal in Postgres, through a pool, and prints the report.
import { Pool } from 'pg';
import { MessagingClient } from 'postreel';
import { postgresJournal } from 'postreel/postgres';

const [, , store = '', count = ''] = process.argv;
const pool = new Pool({ connectionString: store, max: 10 });
const journal = postgresJournal(pool, { name: 'news' });
const messaging = new MessagingClient({ journal, rateLimit: false });
const people = Array.from({ length: Number(count) }, (_, index) => `p${index}@example.com`);
const message = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };
const report = await messaging.sendEach(people, message, { once: 'news' });
const failed = report.failed.map(({ row }) => row);
const unknown = report.unknown.map(({ row }) => row);
console.log(JSON.stringify({ done: report.done, failed, unknown }));
await pool.end();
