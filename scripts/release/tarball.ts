import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { stubFolders } from '../stubs.js';

/** A package as npm packed it. */
export interface Tarball {
  readonly paths: readonly string[];
  readonly manifest: {
    readonly license?: string;
    readonly scripts?: Readonly<Record<string, string>>;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly bin?: Readonly<Record<string, string>>;
  };
}

const execute = promisify(execFile);
const most = { maxBuffer: 64 * 1024 * 1024 };

/** Reads what is in a tarball, not what should be. */
export async function readTarball(file: string): Promise<Tarball> {
  const { stdout: list } = await execute('tar', ['-tzf', file], most);
  const { stdout } = await execute('tar', ['-xzOf', file, 'package/package.json'], most);
  const paths = list
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
  return { paths, manifest: JSON.parse(stdout) as Tarball['manifest'] };
}

const needed = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'dist/cli.js',
  'dist/LICENSES.txt',
  'dist/openapi.json',
];
const stubs = stubFolders().map((folder) => `${folder}/package.json`);
const allowed =
  /^dist\/|^docs\/(recipes\/)?[\w-]+\.md$|^docs\/(images\/)?[\w-]+\.(svg|png)$|^examples\/([\w-]+\/)?[\w-]+\.(ts|html|yml)$/;
const secret = /(^|\/)(\.env|\.npmrc|\.git|.*\.pem|.*\.tgz|node_modules)(\/|$)/;
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare'];

/** The only packages that users install with this one. */
const dependencies = ['eventemitter3', 'ky', 'p-retry', 'p-throttle', 'zod'];

/** What must not be published. */
export function problemsOf({ paths, manifest }: Tarball): string[] {
  const { scripts = {}, license, bin = {} } = manifest;
  const foreign = Object.keys(manifest.dependencies ?? {}).filter(
    (name) => !dependencies.includes(name),
  );
  const commands = Object.values(bin).map((path) => path.replace(/^\.\//, ''));
  const expected = [...needed, ...stubs, ...commands];
  return [
    ...expected.filter((path) => !paths.includes(path)).map((path) => `${path} is missing.`),
    ...paths
      .filter((path) => !(allowed.test(path) || expected.includes(path)) || secret.test(path))
      .map((path) => `${path} must not be published.`),
    ...installScripts.filter((name) => name in scripts).map((name) => `It runs a script: ${name}.`),
    ...foreign.map((name) => `${name} is a new dependency.`),
    ...(license === 'MIT' ? [] : ['The license is not MIT.']),
  ];
}
