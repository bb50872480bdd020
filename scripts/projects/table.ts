/** One thing that a project has to do. */
export interface Row {
  readonly name: string;
  /** A command of the project that ends by itself, with 0. */
  readonly run?: string;
  /** Whether a warning that our package causes is a failure. @default false */
  readonly noWarnings?: boolean;
  /** Or a command that serves on `$PORT`, and the path of it that is opened. */
  readonly serve?: string;
  readonly open?: string;
  /** Who opens the path. @default 'fetch' */
  readonly by?: 'fetch' | 'post' | 'chromium';
  /** What the page then says. Before what `fetch` and `post` get stands its status: `202 {"sent":1}`. */
  readonly answer?: string;
  /** Emails that arrive at the service meanwhile: never fewer, never more. @default 0 */
  readonly emails?: number;
  /** Events that arrive meanwhile. @default 0 */
  readonly events?: number;
  /** Whether keys and addresses are in the environment. @default true */
  readonly keys?: boolean;
}

/** A project of a user: a folder of `test/projects`, installed with the packed package. */
export interface Project {
  readonly name: string;
  /** @default the name */
  readonly folder?: string;
  /** What is installed beside the package and what the project's own `package.json` lists. */
  readonly packages?: Readonly<Record<string, string>>;
  /** The major version of Node that installs and runs it. @default the one that runs this */
  readonly node?: number;
  /** The command that installs it. @default `npm install` */
  readonly install?: string;
  /** What it needs of the machine: a Postgres, whose address is in `$DATABASE_URL`. */
  readonly needs?: 'postgres';
  readonly rows: readonly Row[];
}

/** TypeScript in each way it may look for the package's types. */
const compilers: Readonly<Record<string, readonly string[]>> = {
  '5.4': ['node10', 'node16', 'bundler'],
  '5.6': ['node10', 'node16', 'bundler'],
  '5.9': ['node10', 'node16', 'bundler'],
  '6': ['nodenext', 'bundler'],
  '7': ['nodenext', 'bundler'],
};

const bundler = '--module esnext --moduleResolution bundler';
const moduleFor: Readonly<Record<string, string>> = { node10: 'commonjs', bundler: 'esnext' };

function typeScript(version: string, resolutions: readonly string[]): Project {
  const rows = resolutions.map((resolution) => {
    const module = moduleFor[resolution] ?? resolution;
    return {
      name: resolution,
      run: `tsc -p . --module ${module} --moduleResolution ${resolution}`,
    };
  });
  const packages = { typescript: version, '@types/node': '20', '@types/react': '19' };
  return {
    name: `typescript-${version}`,
    folder: 'typescript',
    packages,
    rows: [
      ...rows,
      { name: 'no DOM', run: `tsc -p . ${bundler} --lib es2022` },
      // Older compilers name the same properties, in other words.
      ...(version === '5.4' || version === '5.6'
        ? []
        : [{ name: 'mistakes', run: 'node mistakes.js' }]),
    ],
  };
}

/** Without `@types/node`, which is not even installed: a page, and a worker. */
function typeScriptNoNode(version: string): Project {
  return {
    name: `typescript-${version}-no-node`,
    folder: 'typescript',
    packages: { typescript: version, '@types/react': '19' },
    rows: ['dom', 'webworker'].map((library) => ({
      name: library,
      run: `tsc -p no-node.json ${bundler} --lib es2022,${library}`,
    })),
  };
}

function nodeVersion(node: number): Project {
  const rows = ['send.cjs', 'send.mjs'].map((file) => ({
    name: file,
    run: `node ${file} ${node}`,
    emails: 1,
  }));
  return { name: `node-${node}`, folder: 'node', node, rows };
}

const yarn4 = 'npx --yes --package @yarnpkg/cli-dist@4 yarn';

/** Other package managers, on the oldest Node: their choice of versions must run on it. */
const packageManagers: readonly Project[] = [
  installedBy('yarn-1', 'npx --yes yarn@1.22.22 install --non-interactive --no-lockfile'),
  // Plug'n'Play: no node_modules, and a package finds only what it lists itself.
  installedBy(
    'yarn-4-pnp',
    `touch yarn.lock && YARN_NODE_LINKER=pnp ${yarn4} install --no-immutable`,
    `${yarn4} node`,
  ),
  // No hoisting: as strict, with node_modules.
  installedBy(
    'pnpm-no-hoist',
    'npx --yes pnpm@10 install --no-lockfile --config.hoist=false --config.shamefully-hoist=false',
  ),
];

function installedBy(name: string, install: string, node = 'node'): Project {
  const rows = ['send.cjs', 'send.mjs'].map((file) => ({
    name: file,
    run: `${node} ${file} 20`,
    emails: 1,
  }));
  return { name, folder: 'node', node: 20, install, rows };
}

/**
 * A server that sends at a path, and what a visitor gets from it while the service rejects its key:
 * the app's own answer, not the service's.
 */
function signUp(serve: string, path = '/signup'): Row[] {
  // A rejected call counts too: it is not repeated.
  const post = { open: path, by: 'post', emails: 1 } as const;
  return [
    { name: 'request', serve, answer: '202 {"sent":1}', ...post },
    {
      name: 'wrong key',
      serve: `MESSAGING_API_KEY=sk_wrong ${serve}`,
      answer: '502 {"mayBeSent":false}',
      ...post,
    },
  ];
}

const serverFrameworks: readonly Project[] = [
  ...['fastify', 'koa'].map((name) => ({
    name,
    rows: [{ name: 'build', run: 'tsc' }, ...signUp('node dist/app.js')],
  })),
  {
    name: 'nestjs',
    rows: [{ name: 'build', run: 'tsc' }, ...signUp('node dist/main.js')],
  },
  {
    name: 'lambda',
    rows: [
      { name: 'types', run: 'tsc' },
      ...lambdaBundle('CommonJS', 'cjs', 'dist/handler.cjs'),
      ...lambdaBundle('ES module', 'esm', 'dist/handler.mjs'),
    ],
  },
  {
    name: 'react-email',
    rows: [
      { name: 'types', run: 'tsc' },
      { name: 'send', run: 'node dist/send.js', emails: 2 },
    ],
  },
];

function lambdaBundle(name: string, format: string, file: string): Row[] {
  const options = `--bundle --platform=node --target=node20 --format=${format} --outfile=${file}`;
  const invoke = `node invoke.js ./${file}`;
  return [
    { name: `${name} bundle`, run: `esbuild handler.ts ${options}`, noWarnings: true },
    { name: `${name} invoked`, run: `${invoke} 202`, emails: 1 },
    { name: `${name}, wrong key`, run: `MESSAGING_API_KEY=sk_wrong ${invoke} 502`, emails: 1 },
  ];
}

/** Frameworks with pages: an endpoint sends, a page tracks. */
const pageFrameworks: readonly Project[] = [
  {
    name: 'sveltekit',
    node: 22, // version 3 needs it
    rows: pagesAndSignUp('vite build', 'HOST=127.0.0.1 node build', '/signup'),
  },
  {
    name: 'react-router',
    rows: pagesAndSignUp(
      'react-router build',
      'HOST=127.0.0.1 react-router-serve build/server/index.js',
      '/signup',
    ),
  },
  {
    name: 'nuxt',
    node: 22, // version 4.5 needs it
    rows: pagesAndSignUp(
      'nuxt build',
      'NUXT_PUBLIC_TRACKER_KEY=$PUBLIC_KEY NUXT_PUBLIC_TRACKER_URL=$BROWSER_BASE_URL ' +
        'HOST=127.0.0.1 node .output/server/index.mjs',
      '/api/signup',
    ),
  },
  {
    name: 'astro',
    rows: pagesAndSignUp('astro build', 'HOST=127.0.0.1 node dist/server/entry.mjs', '/signup'),
  },
];

function pagesAndSignUp(build: string, serve: string, path: string): Row[] {
  return [
    { name: 'build without keys', run: build, noWarnings: true, keys: false },
    ...signUp(serve, path),
    { name: 'page', serve, open: '/', by: 'chromium', answer: 'tracked', events: 1 },
  ];
}

/** Only whether it bundles: no phone runs here. */
const reactNative: Project = {
  name: 'react-native',
  node: 22, // version 0.88 needs it
  rows: [
    {
      name: 'bundle',
      run: 'TMPDIR=$PWD metro build index.js --platform android --out app.js', // caches are removed
      noWarnings: true,
    },
  ],
};

const nextStart = 'next start --hostname 127.0.0.1 --port $PORT';

/** The smallest two, which `npm test` runs. */
const smallest: readonly Project[] = [
  { name: 'plain-cjs', rows: [{ name: 'run', run: 'node index.js', emails: 1 }] },
  typeScript('5.4', compilers['5.4'] ?? []),
];

export const projects: readonly Project[] = [
  ...smallest,
  {
    name: 'express-ts-jest',
    rows: [
      { name: 'types', run: 'tsc --noEmit' },
      { name: 'test', run: 'jest', emails: 1 },
    ],
  },
  { name: 'express-babel-jest', rows: [{ name: 'test', run: 'jest', emails: 1 }] },
  {
    name: 'jest-esm',
    rows: [
      {
        name: 'test',
        run: 'node --experimental-vm-modules node_modules/jest/bin/jest.js',
        emails: 1,
      },
      {
        name: 'as documented',
        run: 'node --experimental-vm-modules node_modules/jest/bin/jest.js send',
        keys: false,
        answer: '1 passed',
      },
    ],
  },
  { name: 'jest-jsdom', rows: [{ name: 'test', run: 'jest' }] },
  {
    name: 'pg-boss',
    node: 22, // version 12 needs it
    needs: 'postgres',
    rows: [{ name: 'version 12', run: 'node check.js', keys: false }],
  },
  {
    name: 'vitest',
    node: 22,
    rows: [
      { name: 'test', run: 'vitest run', emails: 1 },
      { name: 'as documented', run: 'vitest run send', keys: false, answer: '2 passed' },
    ],
  },
  {
    name: 'next',
    rows: [
      { name: 'build without keys', run: 'next build', keys: false, noWarnings: true },
      { name: 'Node route', ...nextPage('/api/node'), by: 'post', answer: '"sent":1', emails: 1 },
      {
        name: 'cached route',
        ...nextPage('/api/cached'),
        by: 'post',
        answer: '"sent":2',
        emails: 2,
      },
      { name: 'edge route', ...nextPage('/api/edge'), by: 'post', answer: '"sent":1', emails: 1 },
      {
        name: 'wrong key',
        serve: `MESSAGING_API_KEY=sk_wrong ${nextStart}`,
        open: '/api/node',
        by: 'post',
        answer: '502 {"mayBeSent":false}',
        emails: 1,
      },
      { name: 'server component', ...nextPage('/'), answer: 'contacts: 0' },
      { name: 'client page', ...nextPage('/client'), by: 'chromium', answer: 'tracked', events: 1 },
    ],
  },
  {
    name: 'vite-react',
    rows: [
      { name: 'build', run: 'vite build', noWarnings: true },
      {
        name: 'page',
        serve: 'vite preview --host 127.0.0.1 --port $PORT',
        open: '/',
        by: 'chromium',
        answer: 'tracked',
        events: 1,
      },
    ],
  },
  {
    name: 'webpack',
    rows: [
      { name: 'build', run: 'webpack', noWarnings: true },
      { name: 'server', run: 'node dist/server.js', emails: 1 },
      {
        name: 'page',
        serve: 'node dist/static.js',
        open: '/',
        by: 'chromium',
        answer: 'tracked',
        events: 1,
      },
    ],
  },
  {
    name: 'hono-workerd',
    rows: [
      {
        name: 'build',
        run: 'esbuild worker.ts --bundle --format=esm --outfile=worker.mjs',
        noWarnings: true,
      },
      {
        name: 'request',
        serve: 'workerd serve config.capnp --socket-addr http=127.0.0.1:$PORT',
        open: '/signup',
        by: 'post',
        answer: '"sent":1',
        emails: 1,
      },
    ],
  },
  { name: 'bun', rows: [{ name: 'test', run: 'bun test', emails: 1 }] },
  { name: 'deno', rows: [{ name: 'run', run: 'deno run --allow-all index.ts', emails: 1 }] },
  {
    name: 'decorators',
    rows: [
      { name: 'build', run: 'tsc' },
      { name: 'run', run: 'node dist/app.js', emails: 1 },
    ],
  },
  ...serverFrameworks,
  ...pageFrameworks,
  reactNative,
  ...Object.entries(compilers)
    .filter(([version]) => version !== '5.4')
    .map(([version, resolutions]) => typeScript(version, resolutions)),
  ...['5.4', '7'].map(typeScriptNoNode),
  ...[20, 22, 24, 26].map(nodeVersion),
  ...packageManagers,
];

function nextPage(path: string): Pick<Row, 'serve' | 'open'> {
  return { serve: nextStart, open: path };
}
