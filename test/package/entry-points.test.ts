import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  entryPoints,
  installPackage,
  manifest,
  repository,
  type Project,
} from '../support/package/installed.js';
import { publicNamesFile, type EntryPointNames } from '../../scripts/public-names.js';

const listed = JSON.parse(readFileSync(publicNamesFile, 'utf8')) as Record<string, EntryPointNames>; // as: written by our script
const names = Object.fromEntries(
  Object.entries(listed).map(([entryPoint, { values }]) => [entryPoint, values]),
);

let project: Project;
beforeAll(async () => {
  project = await installPackage({ with: Object.keys(manifest.peerDependencies) });
});
afterAll(() => project.remove());

/** Runs a module of either kind until it ends by itself, and parses the JSON it prints. */
async function run(kind: 'mjs' | 'cjs', code: string): Promise<unknown> {
  const file = await project.write(`main.${kind}`, code);
  return JSON.parse(await project.run(process.execPath, [file]));
}

const load = {
  mjs: (path: string) => `await import('${path}')`,
  cjs: (path: string) => `require('${path}')`,
};

/** Code that imports the exports of every entry point, in either kind of module. */
const importAll = (kind: 'mjs' | 'cjs') =>
  `const entryPoints = { ${entryPoints.map((entryPoint) => `'${entryPoint}': ${load[kind](entryPoint)}`).join(', ')} };`;

describe('the entry points', () => {
  it('are all folders with an index, except the errors and the command', () => {
    const folders = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /(^|[\\/])index\.tsx?$/.test(path))
      .map((path) => join('postreel', dirname(path)))
      .filter((name) => name !== 'postreel/errors' && name !== 'postreel/cli');
    expect([...entryPoints].sort()).toEqual(folders.sort());
  });

  it('exist, with their types, in both kinds', () => {
    const files = Object.values(manifest.exports).flatMap((entryPoint) =>
      typeof entryPoint === 'string'
        ? [entryPoint]
        : Object.values(entryPoint).flatMap((kind) => Object.values(kind)),
    );
    expect(files.filter((file) => !existsSync(join(project.package, file)))).toEqual([]);
  });

  it.each(['mjs', 'cjs'] as const)('export the same names in a .%s file', async (kind) => {
    const print = `console.log(JSON.stringify(entryPoints, (key, value) =>
      key in entryPoints ? Object.keys(value).filter((name) => name !== 'module.exports').sort() : value));`;
    expect(await run(kind, importAll(kind) + print)).toEqual(names);
  });

  it.each(['mjs', 'cjs'] as const)('share each class and function in a .%s file', async (kind) => {
    const code = `${importAll(kind)}
      const doubled = Object.entries(entryPoints).flatMap(([entryPoint, values]) =>
        Object.keys(entryPoints.postreel)
          // The tracker stands alone: it shares types only, and keeps its own small functions.
          .filter((name) => !entryPoint.startsWith('postreel/tracker') || /^[A-Z]/.test(name))
          .filter((name) => name in values && values[name] !== entryPoints.postreel[name])
          .map((name) => entryPoint + ' ' + name));
      console.log(JSON.stringify(doubled));`;
    expect(await run(kind, code)).toEqual([]);
  });

  it('do not give access to other files', async () => {
    const code = `import('postreel/dist/esm/index.js').catch(({ code }) => console.log(JSON.stringify(code)));`;
    expect(await run('mjs', code)).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});

describe('errors of the ESM and of the CommonJS build', () => {
  const both = `
    import { createRequire } from 'node:module';
    import * as esm from 'postreel';
    const cjs = createRequire(import.meta.url)('postreel');
    const errors = Object.keys(esm).filter((name) => /^[A-Z]\\w*Error$/.test(name));`;

  it('are different classes of the same names', async () => {
    const print = 'console.log(JSON.stringify(errors.filter((name) => esm[name] !== cjs[name])));';
    const errors = names.postreel?.filter((name) => /^[A-Z]\w*Error$/.test(name));
    expect(await run('mjs', both + print)).toEqual(errors);
  });

  it('are instances of exactly the same classes', async () => {
    const code = `${both}
      const report = { done: 1, failed: [], unknown: [], notReached: 1, resumeFrom: 1 };
      const inputs = {
        WebhookVerificationError: ['EXPIRED', 'It is old.'],
        PartialError: ['contacts.deleteAll()', report, undefined],
      };
      const kinds = (error, copy) => errors.filter((name) => error instanceof copy[name]);
      const differing = errors.filter((name) => {
        const input = inputs[name] ?? ['It broke.', {}];
        const [one, other] = [esm, cjs].map((copy) => new copy[name](...input));
        const all = [one, other].flatMap((error) => [kinds(error, esm), kinds(error, cjs)]);
        return all.some((list) => !list.includes(name) || String(list) !== String(all[0]));
      });
      console.log(JSON.stringify(differing));`;
    expect(await run('mjs', code)).toEqual([]);
  });

  it('pass the guards of the other build if a call fails', async () => {
    const code = `${both}
      const missing = { success: false, error: { code: 'NOT_FOUND', message: 'No such contact' } };
      const fetch = async () => Response.json(missing, { status: 404 });
      const options = { apiKey: 'sk_test_key', baseUrl: 'https://service.test', fetch };
      const fail = (copy) => new copy.MessagingClient(options).contacts.get('id').catch((e) => e);
      const found = [];
      for (const [mine, other] of [[esm, cjs], [cjs, esm]]) {
        const error = await fail(mine);
        found.push(other.isPostreelError(error), other.isApiError(error),
          error instanceof other.NotFoundError, error instanceof other.RateLimitError);
      }
      console.log(JSON.stringify(found));`;
    expect(await run('mjs', code)).toEqual([true, true, true, false, true, true, true, false]);
  });
});
