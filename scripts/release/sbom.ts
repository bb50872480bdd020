import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { bundledInCommand, bundledInCommonJs } from '../bundled.js';

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

/** What users install, from npm, and what is inside of our own files, from the bundler. */
export async function sbomOf(folder: string): Promise<Sbom> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const text = execFileSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  const sbom = JSON.parse(text) as Sbom; // as: npm's documented output
  const bundled = new Map<string, string[]>();
  const carry = (file: string, names: readonly string[]) =>
    names.forEach((name) => bundled.set(name, [...(bundled.get(name) ?? []), file]));
  carry('dist/cjs', bundledInCommonJs);
  carry('dist/cli.js', await bundledInCommand());
  return { ...sbom, components: [...sbom.components, ...[...bundled].map(componentOf)] };
}

function componentOf([name, files]: readonly [string, readonly string[]]): Component {
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
    properties: files.map((value) => ({ name: 'postreel:bundledIn', value })),
  };
}
