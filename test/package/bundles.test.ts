import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { bundle, imports } from '../../scripts/sizes.js';
import { repository } from '../support/package/installed.js';

const clients = Object.entries(imports).filter(([name]) => !/stack|schemas/.test(name));

describe('a bundle for browsers', () => {
  it.each(clients)('of %s holds zod only in its lazy part', async (_name, code) => {
    const { eagerFiles, lazyFiles } = await bundle(code);
    expect(eagerFiles.flatMap(zodIn)).toEqual([]);
    // The guards need no schema at all.
    expect(lazyFiles.some((file) => zodIn(file).length > 0)).toBe(/Client|\*/.test(code));
  });

  it.each(clients)(
    'of %s holds zod/mini, without classic zod and its locales',
    async (_n, code) => {
      const { lazyFiles } = await bundle(code);
      expect(lazyFiles.flatMap(zodIn).filter((file) => /classic|locales/.test(file))).toEqual([]);
    },
  );

  it('of the schemas uses the zod of the program that combines them with its schemas', async () => {
    const { eagerFiles } = await bundle(imports['the schemas']);
    expect(eagerFiles.some((file) => file.startsWith('node_modules/zod/'))).toBe(true);
    expect(eagerFiles.filter((file) => file.startsWith('dist/')).flatMap(zodIn)).toEqual([]);
  });

  it.each([
    ['postreel/tracker', []],
    ['postreel/tracker/react', ['react']],
    ['postreel/tracker/proxy', []],
    ['postreel/tracker/extras', []],
    ['postreel/tracker/native', []],
  ] as const)('of %s holds no package and loads nothing later', async (name, external) => {
    const { eagerFiles, lazyFiles, externals } = await bundle(`export * from '${name}';`, external);
    expect(eagerFiles.filter((file) => !/^(<stdin>$|dist\/esm\/)/.test(file))).toEqual([]);
    expect(lazyFiles).toEqual([]);
    expect(externals).toEqual(external);
  });

  it.each(Object.entries(imports))('of %s imports nothing from the page', async (_name, code) => {
    const { externals } = await bundle(code);
    expect(externals).toEqual([]);
  });

  it('of one client leaves out the other one', async () => {
    const words = { messaging: '/v1/send', media: '/v1/generate/' };
    const text = async (entryPoint: string) =>
      (await textOf(`export * from 'postreel/${entryPoint}';`)).text;
    expect(await text('messaging')).toContain(words.messaging);
    expect(await text('messaging')).not.toContain(words.media);
    expect(await text('media')).toContain(words.media);
    expect(await text('media')).not.toContain(words.messaging);
  });
});

describe('a bundle of postreel/testing for browsers', () => {
  it('imports msw from the page only for handlers, and nothing else', async () => {
    const { externals, eagerFiles } = await bundle(`export * from 'postreel/testing';`, ['msw']);
    expect(externals).toEqual(['msw']);
    expect(eagerFiles.filter((file) => /\/zod\/|\/ky\//.test(file))).toEqual([]);
  });

  it('works together with a client without `process`', async () => {
    const { text, warnings } = await textOf(`
      import { createFakeMessaging } from 'postreel/testing';
      import { MessagingClient } from 'postreel/messaging';
      const { log } = console;
      delete globalThis.process;
      const { publicKey: apiKey, baseUrl, fetch } = createFakeMessaging();
      const messaging = new MessagingClient({ apiKey, baseUrl, fetch });
      const { email } = { email: 'ann@example.com' };
      const tracked = await messaging.track({ email, event: 'opened' });
      log(typeof process, Object.keys(tracked).length > 0);`);
    expect(warnings).toEqual([]);
    expect(await run(text)).toBe('undefined true\n');
  });
});

/**
 * The modules of zod in a file of the package, by the line that the build writes before each, or
 * the file itself.
 */
function zodIn(file: string): string[] {
  if (file.includes('node_modules/zod/')) {
    return [file];
  }
  const text = file.startsWith('dist/') ? readFileSync(join(repository, file), 'utf8') : '';
  return [...text.matchAll(/^\/\/ node_modules\/(zod\/.*)$/gm)].map(([, path = '']) => path);
}

/** One file with everything, as a bundler without splitting writes it. */
async function textOf(code: string): Promise<{ text: string; warnings: unknown[] }> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: code, resolveDir: repository },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    logLevel: 'silent',
    external: ['msw'],
    tsconfigRaw: {},
  });
  // This warning appears only inside the repository: esbuild does not warn about files in
  // node_modules.
  const own = warnings.filter(({ id }) => id !== 'ignored-bare-import');
  return { text: outputFiles[0]?.text ?? '', warnings: own };
}

/** Runs a module in a process until the process ends by itself. */
async function run(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-bundle-'));
  await writeFile(join(folder, 'bundle.mjs'), text);
  const options = { cwd: folder, timeout: 25_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ['bundle.mjs'], options);
  await rm(folder, { recursive: true });
  return stdout;
}
