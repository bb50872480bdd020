import { readdirSync, readFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { unpackedEntryPoints } from './test/support/package/unpacked.js';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/**
 * The heavy suites, each run by `npm run test:<name>`. What none of them names is `unit`: that is
 * `npm test`, in one process, without a browser, a store, a child process or a second compiler.
 */
const heavy = {
  /** Real browsers. */
  browsers: [
    'test/tracker/browser/*.test.ts',
    'test/cli/fake-page.test.ts',
    'test/docs/screens.test.ts',
    'test/examples/tracker-page.test.ts',
  ],
  /** Real Redis and Postgres, and the engines on them. */
  stores: [
    'test/{redis,postgres,pg-boss,bullmq,bench}/*.processes.test.ts',
    'test/once/*.processes.test.ts',
    'test/examples/worker.processes.test.ts',
  ],
  /** Child processes: kills, the command line, other runtimes, every example. */
  processes: [
    'test/**/*.{process,processes}.test.ts',
    'test/cli/{contacts,exit-codes,fake,help,media,messaging,tools}.test.ts',
    'test/runtimes/*.test.ts',
  ],
  /** The built and packed package, and real projects that install it. */
  package: [
    'test/package/*.test.ts',
    'test/projects/*.test.ts',
    'test/bench/*.test.ts',
    'test/testing/bundle.test.ts',
  ],
  /** The compiler: types, hovers, snippets of the documents, and a tree with a new endpoint. */
  types: [
    'test/types/*.test.ts',
    'test/docs/{hovers,open-records,snippets,site}.test.ts',
    'test/contract/new-endpoint.test.ts',
    'test/cli/pull.test.ts',
  ],
  /** Real connections on 127.0.0.1. */
  sockets: [
    'test/**/*.sockets.test.ts',
    'test/node/download/*.test.ts',
    'test/testing/{server,worker}.test.ts',
    'test/transport/{chaos,faults}.test.ts',
    'test/webhooks/receive/servers.test.ts',
    ...overTheWire(),
  ],
} as const satisfies Record<string, readonly string[]>;

type Suite = keyof typeof heavy;

/** Every test that asks the fakes over real connections. */
function overTheWire(): string[] {
  return testsIn('test').filter((path) =>
    /support\/fake-server|createServer\(/.test(readFileSync(path, 'utf8')),
  );
}

/** Suites that use the package by its entry points alone: they also run over what is packed. */
function ofThePackage(): string[] {
  return ['testing', 'tracker', 'webhooks', 'messaging', 'media']
    .flatMap((folder) => testsIn(`test/${folder}`))
    .filter((path) => !readsSources(path));
}

function testsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.test\.tsx?$/.test(path))
    .map((path) => `${folder}/${path}`);
}

/** Does a file, or a helper that it imports, import a file of `src/`? Types do not count. */
function readsSources(path: string): boolean {
  const imports = readFileSync(path, 'utf8').matchAll(
    /^(?:im|ex)port (?!type)[^;]*? from '(\..+)'/gm,
  );
  return [...imports].some(([, to = '']) => {
    const target = join(dirname(path), to).replace(/\.js$/, '.ts');
    return target.startsWith('src/') || (target.endsWith('.ts') && readsSources(target));
  });
}

export const resolve = {
  alias: [
    { find: /^postreel$/, replacement: source('index.ts') },
    { find: /^postreel\/(.+)$/, replacement: source('$1/index.ts') },
  ],
};

const always = {
  // For what hangs: a busy machine takes ten times as long as an idle one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  // What a killed run has left behind is no test.
  exclude: ['test/types/consumer/**', 'test/projects/*/**', 'test/.tmp/**'],
  // What is built runs as it is.
  server: { deps: { external: [/\/dist\//] } },
};

/** The suites in the order in which a file that two of them name belongs to the first. */
const suites = Object.keys(heavy) as Suite[]; // as: the keys of an object literal

function heavySuite(name: Suite): TestProjectInlineConfiguration {
  const earlier = suites.slice(0, suites.indexOf(name)).flatMap((suite) => [...heavy[suite]]);
  return {
    resolve,
    test: {
      ...always,
      name,
      include: [...heavy[name]],
      exclude: [...always.exclude, ...earlier],
    },
  };
}

const projects: TestProjectInlineConfiguration[] = [
  {
    resolve,
    test: {
      ...always,
      name: 'unit',
      pool: 'threads',
      isolate: false,
      // Most tests that provoke a warning are about something else; `process.on('warning')` still gets it.
      execArgv: ['--disable-warning=PostreelWarning'],
      setupFiles: ['test/support/leave-nothing.ts'],
      include: ['test/**/*.test.ts'],
      exclude: [...always.exclude, ...Object.values(heavy).flat()],
    },
  },
  ...suites.map(heavySuite),
  {
    resolve: { alias: unpackedEntryPoints() },
    test: {
      ...always,
      name: 'packed',
      globalSetup: ['test/support/package/unpack.ts'],
      include: ofThePackage(),
      exclude: [...always.exclude, ...Object.values(heavy).flat()],
    },
  },
  {
    resolve,
    test: {
      name: 'type-tests',
      include: [],
      typecheck: {
        enabled: true,
        only: true,
        include: ['test/types/*.test-d.ts'],
        tsconfig: 'tsconfig.json',
      },
    },
  },
];

export default defineConfig({
  resolve,
  test: {
    projects,
    // Vitest leaves a core idle, which is half of a machine with two.
    maxWorkers: '100%',
    reporters: ['./test/support/tally-reporter.ts'],
    coverage: {
      include: ['src/core/**/*.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 100, branches: 95 },
    },
  },
});
