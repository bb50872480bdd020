import { MessagingClient } from '../../src/index.js';
import { iterated, median, naive, startService, time, works } from './measure.js';

const rounds = 5;
const { url, process: service } = await startService();
const client = new MessagingClient({ apiKey: 'sk_bench', baseUrl: url, rateLimit: false });
const rows: Record<string, Record<string, string>> = {};
await time(naive, client, works.awaits); // warm up
for (const [name, work] of Object.entries(works)) {
  const times: { naive: number[]; iterated: number[] } = { naive: [], iterated: [] };
  for (let round = 0; round < rounds; round++) {
    times.naive.push(await time(naive, client, work));
    times.iterated.push(await time(iterated, client, work));
  }
  const [loop, ours] = [median(times.naive), median(times.iterated)];
  rows[`a consumer that ${name} for 5 ms on each page`] = {
    'naive loop': `${loop.toFixed(0)} ms`,
    'for await': `${ours.toFixed(0)} ms`,
    ratio: (ours / loop).toFixed(2),
  };
}
console.table(rows);
service.kill();
