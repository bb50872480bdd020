import { createRequire } from 'node:module';

/** The version of this package, from its manifest. */
export const { version } = createRequire(import.meta.url)('postreel/package.json') as {
  version: string;
}; // as: the format of npm's manifest
