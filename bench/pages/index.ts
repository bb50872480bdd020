import { MessagingClient } from '../../src/index.js';
import { median, report } from '../report.js';
import { readWithIterator, readPageByPage, startService, time, works } from './measure.js';

const rounds = 9;
const { url, process: service } = await startService();
const client = new MessagingClient({ apiKey: 'sk_bench', baseUrl: url, rateLimit: false });
const rows: Record<string, Record<string, string>> = {};
for (let round = 0; round < 3; round++) {
  for (const walk of [readPageByPage, readWithIterator]) {
    await time(walk, client, works.awaits); // warms up both variants
  }
}
for (const [name, work] of Object.entries(works)) {
  const times: { naive: number[]; iterated: number[] } = { naive: [], iterated: [] };
  for (let round = 0; round < rounds; round++) {
    times.naive.push(await time(readPageByPage, client, work));
    times.iterated.push(await time(readWithIterator, client, work));
  }
  const [loop, ours] = [median(times.naive), median(times.iterated)];
  rows[`a consumer that ${name} for 5 ms on each page`] = {
    'naive loop, ms': loop.toFixed(0),
    '`for await`, ms': ours.toFixed(0),
    ratio: (ours / loop).toFixed(2),
  };
}
service.kill();
await report({
  title: 'Pages ahead',
  command: 'npm run bench:pages',
  method: `4,000 contacts in pages of 100 that take the service 5 ms each, and 5 ms of work on each page: medians of ${rounds} interleaved rounds, the service in a process of its own.`,
  tables: { 'A list with its next page ahead': rows },
});
