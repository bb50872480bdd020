import { readdirSync, readFileSync } from 'node:fs';
import { build } from 'esbuild';
import { commandBundle } from './command-bundle.js';

/** These are ES modules only: CommonJS carries them, since Jest and old bundlers cannot load them. */
export const bundledInCommonJs = ['ky', 'p-retry', 'p-throttle', 'is-network-error'];

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** What is installed with the package, so that the command need not carry it. */
export const besideTheCommand = ['msw', ...Object.keys(dependencies)];

/** The packages that the command carries, by what the bundler puts into it. */
export async function bundledInCommand(): Promise<string[]> {
  const { metafile } = await build({
    ...commandBundle,
    external: besideTheCommand,
    entryPoints: ['src/cli/index.ts'],
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  const packages = Object.keys(metafile.inputs).flatMap((file) => {
    const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(packages)].sort();
}

/** What the licenses of bundled packages ask for. */
export function licensesOf(names: readonly string[]): string {
  const notices = names.map((name) => {
    const folder = `node_modules/${name}`;
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text =
      file === undefined ? licenseField(folder) : readFileSync(`${folder}/${file}`, 'utf8');
    return `# ${name}\n\n${text.trim()}\n`;
  });
  return notices.join('\n');
}

function licenseField(folder: string): string {
  const { license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest;
  return `License: ${license}`;
}

interface Manifest {
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}
