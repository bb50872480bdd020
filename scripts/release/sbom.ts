import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A bill of materials in CycloneDX, as far as this script writes it. */
export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly components: readonly Component[];
  readonly [field: string]: unknown;
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly [field: string]: unknown;
}

/** What users install, from npm, and what is inside of our own files, from the licences beside them. */
export function sbomOf(folder: string): Sbom {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const text = execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const sbom = JSON.parse(text) as Sbom; // as: npm's documented output
  const licences = readFileSync(join(folder, 'dist/LICENSES.txt'), 'utf8');
  const bundled = [...licences.matchAll(/^# (.+)$/gm)].map(([, name = '']) => componentOf(name));
  return { ...sbom, components: [...sbom.components, ...bundled] };
}

function componentOf(name: string): Component {
  const { version, license } = JSON.parse(
    readFileSync(`node_modules/${name}/package.json`, 'utf8'),
  ) as { version: string; license: string }; // as: npm's format
  return {
    type: 'library',
    'bom-ref': `bundled:${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
    properties: [{ name: 'postreel:bundledIn', value: 'dist' }],
  };
}
