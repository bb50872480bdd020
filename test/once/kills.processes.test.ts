import { spawn, type ChildProcess } from 'node:child_process';
import { Pool } from 'pg';
import { MessagingClient } from 'postreel';
import { migratePostgres } from 'postreel/postgres';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';
import { noRedis, startRedis } from '../support/stores/redis-server.js';

// `KILLS=300 SEED=7 npx vitest run --project stores test/once` runs the long form.
const kills = Number(process.env['KILLS'] ?? 30);
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const counts = { send: 60, track: 60, campaign: 60, execution: 60, template: 60, video: 40 };
const counted = Object.entries(counts).flatMap(([kind, count]) =>
  Array.from({ length: count }, (_, n) => `${kind}/${n}`),
);
// A claim of a killed process expires after some seconds.
const speed = 15;

/** The store of the processes' journal. */
interface JournalServer {
  readonly address: string;
  readonly stop: () => Promise<unknown>;
}

const places: Readonly<Record<string, () => Promise<JournalServer | string>>> = {
  'a file': () => {
    const address = `${child.folder}/journal.jsonl`;
    return Promise.resolve({ address, stop: () => Promise.resolve() });
  },
  Redis: async () => {
    if (noRedis !== undefined) {
      return noRedis;
    }
    const server = await startRedis({ keeps: true });
    return { address: server.url, stop: () => server.stop() };
  },
  Postgres: async () => {
    if (noPostgres !== undefined) {
      return noPostgres;
    }
    const server = await startPostgres();
    const pool = new Pool({ connectionString: server.url });
    await migratePostgres(pool);
    await pool.end();
    return { address: server.url, stop: () => server.stop() };
  },
};

let child: Awaited<ReturnType<typeof bundleScript>>;
beforeAll(async () => {
  child = await bundleScript('test/support/once/kill-child.ts');
});
afterAll(() => child.remove());

it.each(Object.keys(places))(
  `over %s two processes make each of ${counted.length} calls once, over ${kills} SIGKILLs and a new API key`,
  async (name) => {
    const place = await places[name]!();
    if (typeof place === 'string') {
      console.log(`Kills over ${name} are not tested: ${place}.`);
      return;
    }
    const server = await startFakeServer({
      messaging: { rateLimit: { limit: 1_000_000 } },
      media: { rateLimit: false, pendingLimit: 1_000 },
    });
    try {
      const world = await prepare(server);
      const killed = await runAndKill(server, place.address, world);
      const last = start(server, place.address, world, 0);
      const reported = JSON.parse((await last.end).output) as ReportedResults;
      const facts = check(reported, effects(server, world));
      console.log(`seed ${seed}, over ${name}: ${killed} kills, ${JSON.stringify(facts)}`);
      expect(killed).toBeGreaterThanOrEqual(kills);
    } finally {
      await server.close();
      await place.stop();
    }
  },
);

interface World {
  readonly campaigns: readonly string[];
  readonly contacts: readonly string[];
  readonly workflow: string;
}

/**
 * Creates at the service what the processes need: campaigns to send, and a workflow for contacts.
 */
async function prepare({ messaging: { options } }: FakeServer): Promise<World> {
  const messaging = new MessagingClient({ ...options, rateLimit: false });
  const all = <T>(count: number, make: (n: number) => PromiseLike<T>) =>
    Promise.all(Array.from({ length: count }, (_, n) => make(n)));
  const campaign = {
    subject: 'Hi',
    body: 'Hi',
    from: 'a@example.com',
    audienceType: 'ALL',
  } as const;
  const campaigns = await all(counts.campaign, (n) =>
    messaging.campaigns.create({ ...campaign, name: `campaign/${n}` }),
  );
  const contacts = await all(counts.execution, (n) =>
    messaging.contacts.create({ email: `c${n}@example.com`, subscribed: false }),
  );
  const { id } = await messaging.workflows.create({ name: 'Welcome', eventName: 'never' });
  const wait = await messaging.workflows.steps.create(id, {
    type: 'DELAY',
    config: { duration: '30d' },
  });
  const exit = await messaging.workflows.steps.create(id, { type: 'EXIT' });
  const way = { fromStepId: wait.id, toStepId: exit.id };
  await messaging.workflows.transitions.create(id, way);
  await messaging.workflows.update(id, { enabled: true, allowReentry: true });
  return {
    campaigns: campaigns.map((one) => one.id),
    contacts: contacts.map((one) => one.id),
    workflow: id,
  };
}

/** Runs two processes side by side, and kills one of them `kills` times at random moments. */
async function runAndKill(server: FakeServer, address: string, world: World): Promise<number> {
  const random = randomFrom(seed);
  const begin = () => start(server, address, world, Math.floor(random() * 1e6));
  const requests = () => server.messaging.requests.length + server.media.requests.length;
  let running = [begin(), begin()];
  const end = () => Promise.all(running.map((one) => (one.kill(), one.end)));
  let killed = 0;
  let isRotated = false;
  for (let round = 0; killed < kills && round < 2 * kills; round++) {
    // Kills one process, or both, as when the whole machine stops.
    const first = random() < 0.5 ? 0 : 1;
    const victims = random() < 0.5 ? [first] : [first, 1 - first];
    // Kills after a number of requests and a random delay: between two steps of a process, or
    // within one.
    const target = requests() + 1 + Math.floor(random() * 8);
    const laterMs = random() * 6;
    const isWaiting = () => requests() < target && !running[first]?.hasEnded();
    while (isWaiting()) {
      await sleep(1);
    }
    await sleep(laterMs);
    for (const victim of victims) {
      killed += running[victim]?.kill() ? 1 : 0;
      await running[victim]?.end;
      running[victim] = begin();
    }
    if (!isRotated && killed >= kills / 2) {
      isRotated = true;
      await end();
      // The project gets another key; requests with the old one are rejected from now on.
      server.messaging.project.secretKey = 'sk_rotated';
      running = [begin(), begin()];
    }
  }
  await end();
  return killed;
}

function start(
  { messaging, messagingUrl, media, mediaUrl }: FakeServer,
  address: string,
  world: World,
  order: number,
) {
  const env = {
    ...process.env,
    MESSAGING_BASE_URL: messagingUrl,
    MESSAGING_API_KEY: messaging.secretKey,
    MEDIA_BASE_URL: mediaUrl,
    MEDIA_API_KEY: media.apiKey,
    SPEED: String(speed),
  };
  const preload = ['--import', './test/support/node/fast-clock.mjs'];
  const work = JSON.stringify({ counts, ...world, seed: order });
  const running: ChildProcess = spawn(process.execPath, [...preload, child.path, address, work], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  running.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  running.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  let hasEnded = false;
  const end = new Promise<{ output: string; errors: string }>((resolve) => {
    running.once('close', () => {
      hasEnded = true;
      resolve({ output, errors });
    });
  });
  return { kill: () => running.kill('SIGKILL'), hasEnded: () => hasEnded, end };
}

type ReportedResults = Record<string, { value?: unknown; code?: string; message?: string }>;

/**
 * The effects at the services, by key: the ids of the created objects, or how often the call was
 * made.
 */
function effects({ messaging, media }: FakeServer, world: World): Map<string, unknown[]> {
  const { outbox, events, templates } = messaging.project;
  const done = new Map<string, unknown[]>();
  const note = (key: string, id: unknown) => done.set(key, [...(done.get(key) ?? []), id]);
  outbox
    .filter(({ subject }) => subject.startsWith('send/'))
    .forEach(({ subject, id }) => note(subject, id));
  events
    .filter(({ name }) => name === 'paid')
    .forEach(({ data }) => note(String(data['once']), undefined));
  [...templates.values()].forEach(({ name, id }) => note(name, id));
  media.files.forEach(({ settings, fileId }) => note(String(settings['prompt']), fileId));
  for (const { endpoint, path, body, status } of messaging.requests) {
    // A rejected request had no effect; the status is missing if its process was killed.
    if (status !== undefined && status >= 400) {
      continue;
    }
    if (endpoint === 'POST /campaigns/{id}/send') {
      note(`campaign/${world.campaigns.indexOf(path.split('/')[2] ?? '')}`, undefined);
    }
    if (endpoint === 'POST /workflows/{id}/executions') {
      const { contactId } = body as { contactId: string };
      note(`execution/${world.contacts.indexOf(contactId)}`, undefined);
    }
  }
  return done;
}

/**
 * Expects that no call had its effect twice, and that every call without an answer is reported as
 * unknown.
 */
function check(reported: ReportedResults, done: ReadonlyMap<string, unknown[]>) {
  const facts = { done: 0, unknown: 0, unknownAndDone: 0 };
  for (const key of counted) {
    const ids = done.get(key) ?? [];
    const { value, code, message } = reported[key] ?? {};
    expect(ids.length, key).toBeLessThanOrEqual(1);
    if (code === undefined) {
      expect(ids.length, key).toBe(1);
      expect(ids[0] ?? value, key).toEqual(value);
      facts.done += 1;
    } else {
      expect(code, `${key}: ${message}`).toBe('OUTCOME_UNKNOWN');
      facts.unknown += 1;
      facts.unknownAndDone += ids.length;
    }
  }
  return facts;
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function randomFrom(first: number): () => number {
  let state = first >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
