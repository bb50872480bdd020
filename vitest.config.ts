import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Tests with real sockets, processes and browsers: only these may be tried again, and only in CI. */
export const sockets = [
  'test/**/*.{sockets,process,processes}.test.ts',
  'test/{cli,examples,runtimes,projects}/**/*.test.ts',
  'test/node/{crash,download/*}.test.ts',
  'test/testing/{server,worker}.test.ts',
  'test/tracker/browser/*.test.ts',
  'test/transport/{chaos,faults}.test.ts',
  'test/transport/response/hostile.sizes.test.ts',
  'test/transport/send/{abort,abort.outcome,deadline,process}.test.ts',
  'test/webhooks/receive/servers.test.ts',
];

/** The same holds for whatever asks the fakes over real connections. */
const overTheWire = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path}`)
  .filter((path) => /support\/fake-server|createServer\(/.test(readFileSync(path, 'utf8')));
sockets.push(...overTheWire);

/** What the second transport has to do as well; `npm run test:node-fetch` runs all tests of the first. */
const overBoth = [
  'test/transport/faults.test.ts',
  'test/transport/response/{errors,hostile.sizes,redirects}.test.ts',
  'test/transport/send/{abort,abort.outcome,deadline}.test.ts',
];

/** `TRACKER_BROWSERS=none` leaves out what needs a browser. */
const browsers = [
  'test/cli/fake-page.test.ts',
  'test/tracker/browser/*.test.ts',
  'test/examples/tracker-page.test.ts',
];
const unwanted = process.env['TRACKER_BROWSERS'] === 'none' ? browsers : [];

export const resolve = {
  alias: [
    { find: /^postreel$/, replacement: source('index.ts') },
    { find: /^postreel\/(.+)$/, replacement: source('$1/index.ts') },
  ],
};

const always = {
  setupFiles: ['./test/support/second-transport.ts'],
  testTimeout: 30_000,
  hookTimeout: 60_000,
  exclude: ['test/types/consumer/**', 'test/projects/*/**', ...unwanted],
};

const projects: TestProjectInlineConfiguration[] = [
  {
    resolve,
    test: {
      ...always,
      name: 'units',
      include: ['test/**/*.test.ts'],
      exclude: [...always.exclude, ...sockets],
    },
  },
  {
    resolve,
    test: {
      ...always,
      name: 'sockets',
      include: sockets,
      // A busy machine delays real sockets: the gate asks again before it says no, and says so.
      retry: process.env['CI'] ? 2 : 0,
    },
  },
  {
    resolve,
    test: {
      ...always,
      name: 'node-fetch',
      include: overBoth,
      env: { TRANSPORT: 'node' },
      retry: process.env['CI'] ? 2 : 0,
    },
  },
  {
    resolve,
    test: {
      name: 'types',
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
    reporters: ['default', './test/support/tally-reporter.ts'],
    coverage: {
      include: ['src/{async,transport,pagination,polling,errors}/**/*.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 100, branches: 95 },
    },
  },
});
