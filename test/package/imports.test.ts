import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installPackage, type Project } from '../support/package/installed.js';

let project: Project;
beforeAll(async () => {
  project = await installPackage({ with: ['msw'] });
});
afterAll(() => project.remove());

const watcher = fileURLToPath(new URL('../support/package/watch-imports.mjs', import.meta.url));

interface Watched {
  /** Timers, requests, prints and reads of the environment. */
  readonly deeds: readonly string[];
  readonly globals: readonly string[];
  /** Other resources that keep the process alive. */
  readonly resources: readonly string[];
  readonly loaded: readonly string[];
}

/** Runs a module of either kind until it ends by itself, and returns its recorded effects. */
async function watch(kind: 'mjs' | 'cjs', code: string): Promise<Watched> {
  const print = "console.log(JSON.stringify(globalThis[Symbol.for('postreel.watched')]()));";
  const body = kind === 'mjs' ? code + print : `(async () => { ${code} ${print} })();`;
  const file = await project.write(`watched.${kind}`, body);
  const output = await project.run(process.execPath, ['--import', watcher, file]);
  return JSON.parse(output) as Watched; // as: the watcher prints it
}

const open = {
  mjs: (entryPoint: string) => `const postreel = await import('${entryPoint}');`,
  cjs: (entryPoint: string) => `const postreel = require('${entryPoint}');`,
};

/**
 * Whether this is zod or msw, or a file of the package that contains zod. The build writes a line
 * before each module.
 */
const isForeign = (module: string) =>
  /\/node_modules\/(zod|msw)\//.test(module) ||
  (module.includes('/postreel/dist/') &&
    readFileSync(module.replace(/^file:\/\//, ''), 'utf8').includes('\n// node_modules/zod/'));

describe.each(['mjs', 'cjs'] as const)('importing from a .%s file', (kind) => {
  it.each(['postreel', 'postreel/messaging', 'postreel/media'])(
    '%s loads no zod, has no effect and touches no global',
    async (entryPoint) => {
      const { loaded, ...effects } = await watch(kind, open[kind](entryPoint));
      expect(loaded.some((module) => module.includes('/eventemitter3/'))).toBe(true);
      expect(loaded.filter(isForeign)).toEqual([]);
      expect(effects).toEqual({ deeds: [], globals: [], resources: [] });
    },
  );

  it.each(['postreel/tracker', 'postreel/tracker/proxy'])(
    '%s loads no package, has no effect and touches no global',
    async (entryPoint) => {
      const { loaded, ...effects } = await watch(kind, open[kind](entryPoint));
      const packages = loaded.filter((module) => module.includes('/node_modules/'));
      expect(packages).not.toEqual([]);
      expect(packages.filter((module) => !module.includes('/postreel/dist/'))).toEqual([]);
      expect(effects).toEqual({ deeds: [], globals: [], resources: [] });
    },
  );

  it('postreel/testing loads no msw, has no effect and touches no global', async () => {
    const { loaded, ...effects } = await watch(kind, open[kind]('postreel/testing'));
    expect(loaded.filter((module) => module.includes('/postreel/'))).not.toEqual([]);
    expect(loaded.filter((module) => module.includes('/msw/'))).toEqual([]);
    expect(effects).toEqual({ deeds: [], globals: [], resources: [] });
  });
});

describe.each(['mjs', 'cjs'] as const)('a client in a .%s file', (kind) => {
  const clients = `
    ${open[kind]('postreel')}
    const fetch = async () => Response.json({ success: true, data: { contacts: [] } });
    const options = { apiKey: 'sk_test_key', baseUrl: 'https://service.test', fetch };
    const messaging = new postreel.MessagingClient(options);
    const media = new postreel.MediaClient(options);`;

  it('is created without loading a schema or starting a timer', async () => {
    const { loaded, deeds, resources } = await watch(kind, clients);
    expect(loaded.filter(isForeign)).toEqual([]);
    expect(resources).toEqual([]);
    expect(deeds.filter((deed) => !deed.startsWith('process.env.'))).toEqual([]);
  });

  it('loads the schemas of a service with the first call that needs one', async () => {
    const calls = `
      await messaging.contacts.get('contact_1').safe(); // has nothing to check
      await Promise.all(['ann', 'bea'].map((name) =>
        messaging.contacts.create({ email: name + '@example.com' }).safe()));`;
    const { loaded } = await watch(kind, clients + calls);
    const schemas = loaded.filter((module) => /\/schemas-\w+\.js$/.test(module));
    expect(schemas).toHaveLength(1);
    expect(loaded.some(isForeign)).toBe(true);
    expect(loaded.filter((module) => module.includes('/node_modules/zod/'))).toEqual([]);
  });

  it('never loads zod if it checks neither requests nor responses', async () => {
    const off = `
      const validation = { requests: 'off', responses: 'off' };
      const unchecked = new postreel.MessagingClient({ ...options, validation });
      await unchecked.contacts.get('contact_1').safe();`;
    const { loaded } = await watch(kind, clients + off);
    expect(loaded.filter(isForeign)).toEqual([]);
  });
});
