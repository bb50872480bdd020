import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { build } from 'tsup';
import { doors } from './doors.js';

const entry = Object.fromEntries(doors().map((door) => [door.entry, door.source]));
const cli = { cli: 'src/cli/index.ts' };

rmSync('dist', { recursive: true, force: true });

// Splitting keeps the schemas lazy and gives every class one identity across the doors.
for (const [format, outDir, entries] of [
  ['esm', 'dist/esm', { ...entry, ...cli }],
  ['cjs', 'dist/cjs', entry],
] as const) {
  await build({
    entry: entries,
    format,
    outDir,
    target: 'es2022',
    splitting: true,
    // The maps lead to `src`, which is published; those of a split CommonJS build lead nowhere.
    sourcemap: format === 'esm',
    esbuildOptions: (options) => {
      options.sourcesContent = false;
    },
    silent: true,
    dts: false,
    tsconfig: 'tsconfig.build.json',
    outExtension: () => ({ js: '.js' }),
  });
  // tsup's own types have no declaration maps.
  execFileSync(
    'node',
    ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', outDir],
    {
      stdio: 'inherit',
    },
  );
}
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
await import('./tracker-global.js');
