import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { contactIn, effects, type Program, type Row } from '../support/docs/effects.js';
import { withServices } from '../support/scripts.js';
import { programs } from '../support/snippets.js';

// Runs every program of the documents and the examples, as pasted, and checks its effect.

const isList = (given: Row | readonly Row[]): given is readonly Row[] => Array.isArray(given);
const rows = new Map(
  Object.entries(effects).flatMap(([path, given]) =>
    isList(given)
      ? given.map((row, at) => [`${path} ${at + 1}`, row] as const)
      : [[path, given] as const],
  ),
);
// The slowest starts first: it takes as long as many others.
const isSlowest = (name: string) => name === 'examples/22-hundred-videos.ts';
const all = programs()
  .map((program) => ({ ...program, row: rows.get(program.name) }))
  .sort((one, other) => Number(isSlowest(other.name)) - Number(isSlowest(one.name)));
const webPage = resolve('test/support/node/page.mjs');

describe('the programs of the documents and the examples', () => {
  it('are all in the table of effects', () => {
    expect([...rows.keys()].sort()).toEqual(all.map(({ name }) => name).sort());
  });

  it.concurrent.each(all)(
    '$name has its effect',
    async ({ code: pasted, row = () => undefined }) => {
      const program: Program = typeof row === 'function' ? { has: row } : row;
      const { has, use = '', isPage } = program;
      await withServices(async (run, { messaging: fake, media, messagingUrl }, folder) => {
        // A page has the key and the address in its text.
        const code = isPage
          ? pasted
              .replaceAll(/'pk_[^']*'/g, `'${fake.publicKey}'`)
              .replaceAll(/'https?:[^']*'/g, `'${messagingUrl}'`)
          : pasted;
        const { code: script } = await transform(code + use, { loader: 'ts', format: 'esm' });
        await writeFile(join(folder, 'program.mjs'), script);
        const command = [...(isPage ? ['--import', webPage] : []), join(folder, 'program.mjs')];
        const runOnce = async () => {
          const { code: exit, output } = await run(command);
          expect(exit, output).toBe(0);
          return output.trim().split('\n');
        };
        const lines = await runOnce();
        const bodies = (endpoint: string) =>
          [...fake.requests, ...media.requests]
            .filter((request) => request.endpoint === endpoint)
            .map(({ body }) => body);
        await has({
          fake,
          media,
          lines,
          files: (await readdir(folder)).sort(),
          contact: (email) => contactIn(fake, email),
          bodies,
          asked: [...fake.requests, ...media.requests].map(({ endpoint }) => endpoint),
          again: runOnce,
        });
      });
    },
    120_000,
  );
});
