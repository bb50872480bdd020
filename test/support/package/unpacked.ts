import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The folder where the package is unpacked, as npm would install it, while suites test it. */
export const unpacked = resolve('test/.tmp/packed');

/** Every entry point as an ES module, according to the package's manifest. */
export function unpackedEntryPoints(): { find: RegExp; replacement: string }[] {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, string | { import: { default: string } }>;
  }; // as: our own package.json
  return Object.entries(exports).flatMap(([path, entryPoint]) =>
    typeof entryPoint === 'string'
      ? []
      : {
          find: new RegExp(`^postreel${path.slice(1)}$`),
          replacement: resolve(unpacked, 'package', entryPoint.import.default),
        },
  );
}
