import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryPoints, installPackage, type Project } from '../support/package/installed.js';

const watcher = fileURLToPath(new URL('../support/package/watch-imports.mjs', import.meta.url));

let project: Project;
beforeAll(async () => {
  project = await installPackage(); // without any peer
});
afterAll(() => project.remove());

async function run(kind: 'mjs' | 'cjs', code: string, args: readonly string[] = []) {
  const file = await project.write(`peers.${kind}`, code);
  return JSON.parse(await project.run(process.execPath, [...args, file])) as unknown;
}

const load = {
  mjs: (entryPoint: string) => `await import('${entryPoint}')`,
  cjs: (entryPoint: string) => `require('${entryPoint}')`,
};

/** Calls that need a peer in a certain version, and their error messages without it. */
const failingCalls = [
  [
    `REDIS.redisRateBudget({})`,
    '`redisRateBudget()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
  ],
  [
    `REDIS.redisJournal({})`,
    '`redisJournal()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
  ],
  [
    `POSTGRES.postgresRateBudget({})`,
    '`postgresRateBudget()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  ],
  [
    `POSTGRES.postgresJournal({})`,
    '`postgresJournal()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  ],
  [
    `POSTGRES.migratePostgres({})`,
    '`migratePostgres()` needs a Postgres pool. Install `pg` and pass `new Pool({ connectionString })`.',
  ],
  // The argument that version 9 passes.
  [
    `BOSS.pgBossHandler(media(), { save() {} })({ id: '1', data: {} })`,
    '`pgBossHandler()` is for `boss.work()` of `pg-boss` 10 or later.',
  ],
  // The argument that version 4 passes.
  [
    `BULLMQ.bullmqProcessor(media(), { save() {} })({ id: '1', data: {} })`,
    '`bullmqProcessor()` is for the jobs of a `Worker` of `bullmq` 5.55 or later.',
  ],
  [
    `OTEL.instrument({})`,
    '`postreel/otel` needs `@opentelemetry/api` 1.3 or later. Install it next to `postreel`.',
  ],
  [
    `TESTING.createFakeMedia().handlers()`,
    'MSW handlers need msw 2 or later. Install it with `npm install -D msw`.',
  ],
] as const;

const code = `(async () => {
  const { MediaClient, memoryJournal } = MEDIA;
  const media = () =>
    new MediaClient({ apiKey: 'k', baseUrl: 'https://media.test', journal: memoryJournal() });
  const messages = [];
  for (const call of [${failingCalls.map(([call]) => `() => ${call}`).join(', ')}]) {
    await Promise.resolve().then(call).catch(({ message }) => messages.push(message));
  }
  console.log(JSON.stringify(messages));
})();`;
const entryPointsByName = {
  MEDIA: 'media',
  REDIS: 'redis',
  POSTGRES: 'postgres',
  BOSS: 'pg-boss',
  BULLMQ: 'bullmq',
  OTEL: 'otel',
  TESTING: 'testing',
};

describe.each(['mjs', 'cjs'] as const)(
  'in a .%s file, each entry point loads and its error says what to install',
  (kind) => {
    const opening = Object.entries(entryPointsByName).map(
      ([name, entryPoint]) => `const ${name} = ${load[kind](`postreel/${entryPoint}`)};`,
    );
    const said = failingCalls.map(([, sentence]) => sentence);

    it('without its peer', async () => {
      expect(await run(kind, opening.join('\n') + code)).toEqual(said);
    });

    it('with a peer that is too old', async () => {
      await project.write('node_modules/@opentelemetry/api/index.js', 'exports.trace = {};');
      await project.write('node_modules/msw/index.js', 'exports.rest = {};');
      expect(await run(kind, opening.join('\n') + code)).toEqual(said);
    });
  },
);

describe('`postreel mcp` names the package that it needs', () => {
  const serve = async () => {
    const command = join(project.package, 'dist/cli.js');
    return project.run(process.execPath, [command, 'mcp']).then(
      () => 'It started.',
      (error: unknown) => String(error),
    );
  };
  const sentence =
    'This command needs @modelcontextprotocol/sdk 1.13 or later: npx -p postreel -p @modelcontextprotocol/sdk postreel mcp';

  it('if the package is missing', async () => {
    expect(await serve()).toContain(sentence);
  });

  it.each([
    ['without `registerResource`', { './*': './*' }],
    ['without a server of that name', {}],
  ])('if the package is one %s', async (_name, exports) => {
    const folder = 'node_modules/@modelcontextprotocol/sdk';
    await project.write(`${folder}/package.json`, JSON.stringify({ exports, type: 'module' }));
    await project.write(`${folder}/server/mcp.js`, 'export class McpServer {}');
    expect(await serve()).toContain(sentence);
  });
});

describe('an entry point', () => {
  it.each(entryPoints.filter((entryPoint) => !/msw|react/.test(entryPoint)))(
    '%s loads no other entry point',
    async (entryPoint) => {
      const code = `await import('${entryPoint}');
      console.log(JSON.stringify(globalThis[Symbol.for('postreel.watched')]().loaded));`;
      const loaded = (await run('mjs', code, ['--import', watcher])) as string[]; // as: the watcher prints it
      const own =
        entryPoint === 'postreel' ? 'index.js' : `${entryPoint.replace('postreel/', '')}/index.js`;
      const others = loaded
        .flatMap((module) => /dist\/esm\/(.*index\.js)$/.exec(module)?.[1] ?? [])
        .filter((entry) => entry !== own);
      expect(others).toEqual([]);
    },
  );
});
