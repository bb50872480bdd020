import { readFileSync } from 'node:fs';

/**
 * The version of this package. The build puts it into the command; from the sources it is read from
 * the manifest, two folders up.
 */
export const version = process.env['POSTREEL_VERSION'] ?? versionOfManifest();

function versionOfManifest(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version; // as: npm's format
}
