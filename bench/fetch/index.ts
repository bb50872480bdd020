/**
 * `npm run bench:fetch`: a newsletter by fifty lines of fetch and by this package, while answers are
 * lost, connections drop, the service refuses what is over its limit, and the process is killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeServer, type FakeServer } from '../../src/testing/index.js';

const scene = { count: 1_000, limit: 200, windowMs: 3_000, killsAfterMs: [3_000, 5_000, 7_000] };
const share = 0.03; // the share of lost responses, and of dropped connections

console.log(
  `${scene.count} emails, ${scene.limit} in ${scene.windowMs / 1_000} s, ${share * 100} % lost answers and ` +
    `${share * 100} % dropped connections, ${scene.killsAfterMs.length} times SIGKILL\n`,
);
console.table({
  'fifty lines of fetch': await run('bench/fetch/fetch.mjs'),
  postreel: await run('bench/fetch/postreel.mjs'),
});

async function run(program: string): Promise<Record<string, number>> {
  const { limit, windowMs } = scene;
  const fake = await startFakeServer({
    messaging: { rateLimit: { limit, windowMs }, clock: { mode: 'real' } },
  });
  const folder = await mkdtemp(join(tmpdir(), 'postreel-fetch-'));
  fake.messaging.fail('POST /v1/send', { loseAnswer: true, probability: share, times: Infinity });
  fake.messaging.fail('POST /v1/send', { drop: true, probability: share, times: Infinity });
  const started = Date.now();
  try {
    const output = await runUntilDone(program, environment(fake, folder));
    return { ...tally(fake, output), seconds: Math.round((Date.now() - started) / 1_000) };
  } finally {
    await fake.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the program, kills it as often as the scene demands, and starts it again until it ends. */
async function runUntilDone(program: string, env: NodeJS.ProcessEnv): Promise<string> {
  let output = '';
  for (const afterMs of [...scene.killsAfterMs, 240_000]) {
    const child = spawn(process.execPath, [program], { env });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const ended = once(child, 'close') as Promise<[number | null]>; // as: the event of a child process
    const [code] = await Promise.race([ended, sleep(afterMs, [null], { ref: false })]);
    if (code === 0) {
      return output;
    }
    child.kill('SIGKILL');
    await ended;
  }
  throw new Error(`${program} did not end: ${output}`);
}

function environment({ messaging, messagingUrl }: FakeServer, folder: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    MESSAGING_BASE_URL: messagingUrl,
    MESSAGING_API_KEY: messaging.secretKey,
    COUNT: String(scene.count),
    LIMIT: String(scene.limit),
    WINDOW_MS: String(scene.windowMs),
    FOLDER: folder,
  };
}

/** The result for the readers: `silent` are those without an email whom the program never named. */
function tally({ messaging }: FakeServer, output: string): Record<string, number> {
  const emails = messaging.outbox.map(({ to }) => to);
  const reached = new Set(emails);
  const readers = Array.from({ length: scene.count }, (_, at) => `reader-${at}@example.com`);
  const missed = readers.filter((to) => !reached.has(to));
  const named = new Set(output.match(/reader-\d+@example\.com/g));
  return {
    duplicates: emails.length - reached.size,
    'lost without a word': missed.filter((to) => !named.has(to)).length,
    'to check by hand': named.size,
    'refused calls': messaging.requests.filter(({ status }) => status === 429).length,
  };
}
