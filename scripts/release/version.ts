import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The file that tells the package its version, without reading its manifest. */
export function versionFile(version: string): string {
  return `/** The version of this package, as services see it; \`package.json\` has the same. */
export const version = '${version}';
`;
}

// `npm version` runs this between the change of the manifest and its commit.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }; // npm's format
  writeFileSync('src/core/version.ts', versionFile(version));
}
