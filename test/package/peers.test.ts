import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors, installPackage, type Project } from '../support/package/installed.js';

// The doors whose peers somebody may not have.
const engines = ['redis', 'postgres', 'pg-boss', 'bullmq', 'otel'].map(
  (name) => `postreel/${name}`,
);
const watcher = fileURLToPath(new URL('../support/package/watch-imports.mjs', import.meta.url));

let project: Project;
beforeAll(async () => {
  project = await installPackage(); // without a single peer
});
afterAll(() => project.remove());

async function run(kind: 'mjs' | 'cjs', code: string, args: readonly string[] = []) {
  const file = await project.write(`peers.${kind}`, code);
  return JSON.parse(await project.run(process.execPath, [...args, file])) as unknown;
}

const load = {
  mjs: (door: string) => `await import('${door}')`,
  cjs: (door: string) => `require('${door}')`,
};

const sentences = [
  '`redisRateBudget()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
  '`redisJournal()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
  '`postgresRateBudget()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  '`postgresJournal()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  '`migratePostgres()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  '`withSchedulerLock()` needs a pool that lends connections. Install `pg` and pass `new Pool({ connectionString })`.',
  '`pgBossSource()` needs a started `PgBoss`. Install `pg-boss` and pass `await boss.start()`.',
  '`postreel/bullmq` needs `bullmq`. Install it beside `postreel`.',
  '`postreel/otel` needs `@opentelemetry/api`. Install it beside `postreel`.',
];

describe.each(['mjs', 'cjs'] as const)('without its peer, from a .%s file,', (kind) => {
  it('each door loads, and says in one sentence what to install', async () => {
    const [redis, postgres, boss, bullmq, otel] = engines.map((door) => load[kind](door));
    const code = `const main = async () => {
      const failing = [
        () => (REDIS).redisRateBudget(), () => (REDIS).redisJournal(),
        () => (POSTGRES).postgresRateBudget(), () => (POSTGRES).postgresJournal(),
        () => (POSTGRES).migratePostgres(), () => (POSTGRES).withSchedulerLock(),
        () => (BOSS).pgBossSource(), () => (BULLMQ).bullmqSource('videos', {}),
        () => (OTEL).instrument({}),
      ];
      const told = [];
      for (const fail of failing) {
        await Promise.resolve().then(fail).catch(({ message }) => told.push(message));
      }
      console.log(JSON.stringify(told));
    };`;
    const filled = code
      .replaceAll('REDIS', 'doors[0]')
      .replaceAll('POSTGRES', 'doors[1]')
      .replaceAll('BOSS', 'doors[2]')
      .replaceAll('BULLMQ', 'doors[3]')
      .replaceAll('OTEL', 'doors[4]');
    const opening = `const doors = [${[redis, postgres, boss, bullmq, otel].join(', ')}];`;
    expect(await run(kind, `${opening}${filled} main();`)).toEqual(sentences);
  });
});

describe('a door', () => {
  it.each(doors.filter((door) => !/msw|react/.test(door)))(
    '%s loads no other door',
    async (door) => {
      const code = `await import('${door}');
      console.log(JSON.stringify(globalThis[Symbol.for('postreel.watched')]().loaded));`;
      const loaded = (await run('mjs', code, ['--import', watcher])) as string[]; // as: what the watcher prints
      const own = door === 'postreel' ? 'index.js' : `${door.replace('postreel/', '')}/index.js`;
      const others = loaded
        .flatMap((module) => /dist\/esm\/(.*index\.js)$/.exec(module)?.[1] ?? [])
        .filter((entry) => entry !== own);
      expect(others).toEqual([]);
    },
  );
});
