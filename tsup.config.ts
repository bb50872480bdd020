import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';
import { entryPoints } from './scripts/entry-points.js';

/** Cannot be required everywhere (Jest), so CommonJS carries them. */
const esModulesOnly = ['ky', 'p-retry', 'is-network-error', 'p-throttle'];

/** The command's tools and what they need; the library has nothing of them. */
const tools = [
  'commander',
  'cli-progress',
  'string-width',
  'strip-ansi',
  'ansi-regex',
  'emoji-regex',
  'is-fullwidth-code-point',
];

/** Share no class with other entry points: each is one file. */
const standalone = {
  // The only one that leaves zod to its users, who combine these schemas with their own.
  'schemas/index': 'src/schemas/index.ts',
  // In CommonJS, a file that is split does not begin with 'use client'.
  'tracker/react/index': 'src/tracker/react/index.ts',
};
const all = Object.fromEntries(entryPoints().map(({ entry, source }) => [entry, source]));
const together = Object.fromEntries(Object.entries(all).filter(([name]) => !(name in standalone)));

const modules: Options = {
  target: 'es2022',
  tsconfig: 'tsconfig.build.json',
  removeNodeProtocol: false,
  silent: true,
  outExtension: () => ({ js: '.js' }),
};
const esm: Options = { ...modules, format: 'esm', outDir: 'dist/esm' };
const cjs: Options = {
  ...modules,
  format: 'cjs',
  outDir: 'dist/cjs',
  inject: ['scripts/text-encoder.js'], // jsdom has none; the bundled packages need one
  onSuccess: () => writeFile('dist/cjs/package.json', '{ "type": "commonjs" }\n'),
};

/** The command uses the package by its name, as its users do. */
const command: Options = {
  entry: { cli: 'src/cli/index.ts' },
  format: 'esm',
  outDir: 'dist',
  target: 'node20',
  tsconfig: 'tsconfig.build.json',
  external: [/^postreel(\/|$)/],
  noExternal: tools,
  // The agents' server is a separate chunk, because it imports a peer.
  splitting: true,
  silent: true,
  outExtension: () => ({ js: '.js' }),
  // Packages in CommonJS ask for Node's own modules by `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  onSuccess: () =>
    writeFile('dist/LICENSES.txt', licensesOf([...esModulesOnly, 'papaparse', 'zod', ...tools])),
};

/** For a script tag: sets the global `postreelTracker`. */
const scriptTag: Options = {
  entry: { tracker: 'src/tracker/global.ts' },
  format: 'iife',
  outDir: 'dist',
  target: 'es2022',
  platform: 'browser',
  minify: true,
  silent: true,
};

export default defineConfig(() => {
  rmSync('dist', { recursive: true, force: true });
  return [
    // zod goes into the chunk with the schemas, which a client loads with its first call.
    { ...esm, entry: together, splitting: true, noExternal: ['zod'] },
    { ...esm, entry: standalone, splitting: false },
    { ...cjs, entry: together, splitting: true, noExternal: ['zod', ...esModulesOnly] },
    { ...cjs, entry: standalone, splitting: false },
    command,
    scriptTag,
  ];
});

/** The licences of bundled packages ask for their text. */
function licensesOf(names: readonly string[]): string {
  const notices = names.map((name) => {
    const folder = `node_modules/${name}`;
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry)) ?? 'LICENSE';
    return `# ${name}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
  });
  return notices.join('\n');
}
