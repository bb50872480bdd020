import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { Pool } from 'pg';
import { MessagingClient } from '../../src/index.js';
import { migratePostgres, postgresJournal } from '../../src/postgres/index.js';
import { createFakeMessaging, startFakeServer } from '../../src/testing/index.js';
import { bundleScript } from '../../test/support/node/bundled.js';
import { startPostgres } from '../../test/support/stores/postgres-server.js';
import { randomFrom } from '../rate-limit/random.js';

// `npm run bench:send-each`: 5,000 people over Postgres with a pool of ten, two competing
// processes, kills, lost answers and rejections; then the cost of a name as the journal grows.
const people = Number(process.env['PEOPLE'] ?? 5_000);
const kills = Number(process.env['KILLS'] ?? 20);
const names = Number(process.env['NAMES'] ?? 100_000);

const postgres = await startPostgres();
const pool = new Pool({ connectionString: postgres.url });
await migratePostgres(pool);
try {
  console.table([await race()]);
  console.table(await measureGrowth());
} finally {
  await pool.end();
  await postgres.stop();
}

async function race() {
  const random = randomFrom(people);
  const child = await bundleScript('bench/send-each/child.ts');
  const server = await startFakeServer({ messaging: { rateLimit: { limit: 10_000_000 } } });
  const { messaging, messagingUrl } = server;
  const path = 'POST /v1/send';
  messaging.fail(path, { status: 400, probability: 0.1, times: Infinity });
  messaging.fail(path, { loseAnswer: true, probability: 0.005, times: 20 });
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: messagingUrl,
    MESSAGING_API_KEY: messaging.secretKey,
  };
  const start = () => {
    const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
    return fork(child.path, [postgres.url, `${people}`], { env, stdio: [...stdio] });
  };
  try {
    const running = [start(), start()];
    for (let killed = 0; killed < kills; killed++) {
      const from = messaging.outbox.length;
      const target = Math.max(from + 1, Math.ceil((0.85 * people * (killed + random())) / kills));
      const victim = Math.floor(random() * running.length);
      while (messaging.outbox.length < target && !running.every(hasEnded)) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      running[victim]?.kill('SIGKILL');
      running[victim] = start();
    }
    await Promise.all(running.map(ended));
    const last = JSON.parse(await outputOf(start())) as {
      done: number;
      failed: string[];
      unknown: string[];
    };
    const counts = new Map<string, number>();
    for (const { to } of messaging.outbox) {
      counts.set(to, (counts.get(to) ?? 0) + 1);
    }
    const known = new Set([...counts.keys(), ...last.failed, ...last.unknown]);
    return {
      people,
      kills,
      mailed: counts.size,
      refusals: messaging.requests.filter(({ status }) => status === 400).length,
      'refused at last': last.failed.length,
      unknown: last.unknown.length,
      'unknown and not mailed': last.unknown.filter((email) => !counts.has(email)).length,
      twice: [...counts.values()].filter((count) => count > 1).length,
      forgotten: people - known.size,
      'counted wrong': people - last.done - last.failed.length - last.unknown.length,
    };
  } finally {
    await server.close();
    await child.remove();
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdout?.resume();
  if (!hasEnded(child)) {
    await once(child, 'exit');
  }
}

async function outputOf(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  return output;
}

// A tenth of the people first, on the same machine in the same run, each size with a separate
// journal.
async function measureGrowth() {
  const few = await secondsFor(names / 10);
  const many = await secondsFor(names);
  return [
    { names: names / 10, seconds: few },
    { names, seconds: many, 'times the first': Number((many / few).toFixed(2)) },
  ];
}

async function secondsFor(count: number): Promise<number> {
  const {
    secretKey: apiKey,
    baseUrl,
    fetch,
  } = createFakeMessaging({ rateLimit: { limit: 10_000_000 } });
  const journal = postgresJournal(pool, { name: `names-${count}` });
  const messaging = new MessagingClient({
    apiKey,
    baseUrl,
    fetch,
    journal,
    rateLimit: false,
  });
  const everyone = Array.from({ length: count }, (_, index) => `p${index}@example.com`);
  const message = { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' };
  const startedAt = performance.now();
  const { done } = await messaging.sendEach(everyone, message, { once: 'news' });
  if (done !== count) {
    throw new Error(`${done} of ${count} were mailed.`);
  }
  return Math.round(performance.now() - startedAt) / 1_000;
}
