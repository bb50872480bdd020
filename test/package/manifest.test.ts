import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  entryPoints,
  dryPack,
  installPackage,
  manifest,
  repository,
  type Packed,
} from '../support/package/installed.js';

const read = (file: string) => JSON.parse(readFileSync(join(repository, file), 'utf8')) as unknown;

describe('package.json', () => {
  it('promises the versions that the documentation names', () => {
    expect(manifest).toMatchObject({
      name: 'postreel',
      type: 'module',
      license: 'MIT',
      sideEffects: false,
      engines: { node: '>=20.19' },
      bin: { postreel: './dist/cli.js' },
    });
  });

  it('depends on five packages, one version line of each: a range over two majors installs the newer one with Yarn 1', () => {
    expect(manifest.dependencies).toEqual({
      eventemitter3: '^5.0.4',
      ky: '^1.14.3',
      'p-retry': '^7.1.1',
      'p-throttle': '^8.1.1',
      zod: expect.stringMatching(/^\^4\./) as string,
    });
  });

  it('requires no other package unless an entry point needs it', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest;
    const required = Object.keys(peerDependencies).filter(
      (name) => !peerDependenciesMeta[name]?.optional,
    );
    expect(required).toEqual([]);
  });

  it('runs nothing when the package is installed', () => {
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(hooks.filter((hook) => hook in manifest.scripts)).toEqual([]);
  });

  it('names the types before the code in every entry point', () => {
    for (const entryPoint of Object.values(manifest.exports)) {
      if (typeof entryPoint === 'string') {
        continue;
      }
      expect(Object.keys(entryPoint)).toEqual(['import', 'require']);
      for (const kind of Object.values(entryPoint)) {
        expect(Object.keys(kind)).toEqual(['types', 'default']);
      }
    }
  });

  it('has a command that the system can start', () => {
    const command = readFileSync(join(repository, 'dist/cli.js'), 'utf8');
    expect(command.startsWith('#!/usr/bin/env node\n')).toBe(true);
  });
});

describe('package-lock.json', () => {
  interface Locked {
    readonly version?: string;
    readonly resolved?: string;
    readonly integrity?: string;
    readonly dependencies?: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
  }
  const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }; // as: npm's format
  const installed = Object.entries(packages).filter(([path]) => path !== '');

  it('names no host, and has a checksum for every package', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
    expect(installed.filter(([, { integrity }]) => integrity === undefined)).toEqual([]);
  });

  it('includes the packages of other platforms, without which npm ci rejects it', () => {
    const holes = Object.entries(packages).flatMap(([path, locked]) =>
      Object.keys({ ...locked.dependencies, ...locked.optionalDependencies })
        .filter((name) => !places(path).some((place) => `${place}node_modules/${name}` in packages))
        .map((name) => `${path} needs ${name}`),
    );
    expect(holes).toEqual([]);
  });

  /** The places where Node looks for a package that another one needs. */
  function places(path: string): string[] {
    const end = path.lastIndexOf('node_modules/');
    if (end < 0) {
      return [path === '' ? '' : `${path}/`];
    }
    return [`${path}/`, ...places(path.slice(0, Math.max(0, end - 1)))];
  }
});

/** The files and folders that a document links to, as paths in the package. */
function linksOf(document: string): { readonly document: string; readonly target: string }[] {
  const text = readFileSync(join(repository, document), 'utf8');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link.replace(/#.*$/, ''))
    .filter((link) => link !== '' && !/^(https?|mailto):/.test(link))
    .map((link) => ({ document, target: join(dirname(document), link) }));
}

describe('the published package', () => {
  let packed: Packed;
  beforeAll(async () => {
    packed = await dryPack();
  });

  it('contains the build, the guides, the examples, four files and a stub for each entry point', () => {
    const paths = packed.files.map(({ path }) => path);
    const others = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
    const stubs = entryPoints
      .slice(1)
      .map((entryPoint) => `${entryPoint.replace('postreel/', '')}/package.json`);
    expect(paths.filter((path) => !/^(dist|docs|examples)\//.test(path)).sort()).toEqual(
      [...others, ...stubs].sort(),
    );
    const kinds = [
      /^dist\/(.*\.(js|d\.ts|json)|LICENSES\.txt)$/,
      /^docs\/(recipes\/)?[\w-]+\.md$/,
      /^docs\/(images\/)?[\w-]+\.(svg|png)$/,
      /^examples\/([\w-]+\/)?[\w-]+\.(ts|html|yml)$/,
    ];
    const rest = paths.filter(
      (path) =>
        /^(dist|docs|examples)\//.test(path) && !kinds.some((allowed) => allowed.test(path)),
    );
    expect(rest).toEqual([]);
    expect(paths.filter((path) => /\.test\.|\.env|\.tgz|\.npmrc|\.DS_Store/.test(path))).toEqual(
      [],
    );
  });

  it('contains every file that its documents link to', () => {
    const paths = packed.files.map(({ path }) => path);
    const links = paths.filter((path) => path.endsWith('.md')).flatMap(linksOf);
    expect(links.length).toBeGreaterThan(200);
    const isPacked = (target: string) =>
      paths.some((path) => path === target || path.startsWith(`${target}/`));
    expect(links.filter(({ target }) => !isPacked(target))).toEqual([]);
  });

  it('contains the licence of each bundled package', () => {
    const code = readdirSync(join(repository, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.js'))
      .map((path) => readFileSync(join(repository, 'dist', path), 'utf8'));
    // esbuild writes a line before each module.
    const modules = code.flatMap((text) => [...text.matchAll(/^ *\/\/ .*\bnode_modules\/(.*)$/gm)]);
    const carried = modules.map(([, path = '']) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
    const licences = readFileSync(join(repository, 'dist/LICENSES.txt'), 'utf8');
    const named = [...licences.matchAll(/^# (.+)$/gm)].map(([, name]) => name);
    expect(named).toContain('ky');
    expect(named.sort()).toEqual([...new Set(carried)].sort());
  });

  it('is the package that the tests install', async () => {
    const project = await installPackage();
    const installed = readdirSync(project.package, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(project.package, join(entry.parentPath, entry.name)));
    await project.remove();
    expect(installed.sort()).toEqual(packed.files.map(({ path }) => path).sort());
  });
});
