import { MessagingClient } from '../../src/index.js';
import { startService } from '../pages/measure.js';
import { report } from '../report.js';

/** The maximum growth of the memory in use between the first tenth of the walk and its end. */
const maxGrowthMb = 8;
const contacts = Number(process.env['CONTACTS'] ?? 1_000_000);
const { url, process: service } = await startService(contacts, 0);
const client = new MessagingClient({ apiKey: 'sk_bench', baseUrl: url, rateLimit: false });

const rows: Record<string, Record<string, string>> = {};
const used: number[] = [];
let count = 0;
for await (const contact of client.contacts.list()) {
  count += contact.id === '' ? 0 : 1;
  if (count % (contacts / 10) === 0) {
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    used.push(heapUsed / 1_000_000);
    rows[count.toLocaleString('en')] = {
      'in use, MB': (heapUsed / 1_000_000).toFixed(1),
      'resident, MB': (rss / 1_000_000).toFixed(0),
    };
  }
}
service.kill();
await report({
  title: 'A walk in flat memory',
  command: 'npm run bench:walk',
  method: `One \`for await\` over ${contacts.toLocaleString('en')} contacts in pages of 100; memory after a collection.`,
  tables: { 'Contacts so far': rows },
});
const growthMb = Math.max(...used.slice(1)) - (used[0] ?? 0);
const isFlat = count === contacts && growthMb <= maxGrowthMb;
console.log(
  `grows by at most ${maxGrowthMb} MB: ${isFlat ? 'yes' : 'NO'} (${growthMb.toFixed(1)})`,
);
process.exitCode = isFlat ? 0 : 1;
