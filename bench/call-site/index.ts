import { MessagingClient } from '../../src/index.js';
import { callSite } from '../../src/core/call/call.js';

/** The maximum cost that recording the caller's line may add to a successful call. */
const maxMicroseconds = 3;
const notes = 2_000;
const calls = 200;
// Short rounds, of which the best one counts: on a busy machine, some are not interrupted.
const rounds = 200;

// The depth of the application's stack at the call: the engine walks ten frames at most.
const depths = [2, 20, 100];

const kept: unknown[] = [];

/** Microseconds for recording the caller once. */
function noteAt(depth: number, note: () => unknown): number {
  const start = performance.now();
  below(depth, () => {
    for (let index = 0; index < notes; index++) {
      kept[index % 1_000] = note(); // a call keeps its call site until it ends
    }
  });
  return ((performance.now() - start) * 1_000) / notes;
}

function below(depth: number, run: () => void): void {
  if (depth === 0) {
    run();
  } else {
    below(depth - 1, run);
  }
}

/** Microseconds for one successful call, with an immediate response. */
async function oneCall(): Promise<number> {
  const fetch = () => Promise.resolve(Response.json({ id: 'con_1' }));
  const options = { apiKey: 'sk_test', baseUrl: 'https://service.test', rateLimit: false as const };
  const messaging = new MessagingClient({ ...options, fetch });
  const times: number[] = [];
  for (let round = 0; round < rounds / 4; round++) {
    const start = performance.now();
    for (let index = 0; index < calls; index++) {
      await messaging.contacts.get('con_1');
    }
    times.push(((performance.now() - start) * 1_000) / calls);
  }
  return Math.min(...times);
}

const call = await oneCall();
const nothing = () => ({});
const best = new Map<string, number>();
for (let round = 0; round < rounds; round++) {
  for (const depth of depths) {
    for (const note of [callSite, nothing]) {
      const name = `${note.name} ${depth}`;
      best.set(name, Math.min(best.get(name) ?? Infinity, noteAt(depth, note)));
    }
  }
}
const costOf = (depth: number) =>
  (best.get(`callSite ${depth}`) ?? Infinity) - (best.get(`nothing ${depth}`) ?? 0);
for (const depth of depths) {
  const cost = costOf(depth).toFixed(2);
  const share = ((100 * costOf(depth)) / call).toFixed(1);
  console.log(`${depth} frames deep: ${cost} µs, ${share} % of a call of ${call.toFixed(0)} µs`);
}
const isCheap = depths.every((depth) => costOf(depth) <= maxMicroseconds);
console.log(`at most ${maxMicroseconds} µs: ${isCheap ? 'yes' : 'NO'}`);
process.exitCode = isCheap ? 0 : 1;
