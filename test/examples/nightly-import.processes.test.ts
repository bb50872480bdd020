import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withServices } from '../support/scripts.js';
import { snippetsOf } from '../support/snippets.js';

const snippet = snippetsOf('docs/contacts.md').find(({ code }) => code.includes('import-from.txt'));

let folder = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  folder = await mkdtemp(resolve('test/.tmp/nights-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('the import that can be resumed takes every row of the next night, whatever the last night left', async () => {
  const file = join(folder, 'night');
  await writeFile(`${file}.ts`, snippet?.code ?? '');
  await build({ entryPoints: [`${file}.ts`], outfile: `${file}.mjs`, tsconfigRaw: {} });
  await withServices(async (run, { messaging }, place) => {
    const planOf = (email: string) =>
      [...messaging.project.contacts.values()].find((contact) => contact.email === email)?.data;
    const nights = [
      'E-Mail,plan,Notes\nkim@example.com,free,\nlou@example.com,free,\n',
      'E-Mail,plan,Notes\nkim@example.com,pro,\nned@example.com,free,\n',
    ];
    for (const rows of nights) {
      await writeFile(join(place, 'people.csv'), rows);
      const { code, output } = await run([`${file}.mjs`]);
      expect([code, output]).toEqual([0, '2 [] []\n']);
      await expect(readFile(join(place, 'import-from.txt'))).rejects.toThrow('ENOENT');
    }
    expect(planOf('kim@example.com')).toEqual({ plan: 'pro' });
    expect(planOf('ned@example.com')).toEqual({ plan: 'free' });
  });

  // A run that was killed after the first row leaves its place: the next run continues there.
  await withServices(async (run, { messaging }, place) => {
    await writeFile(
      join(place, 'people.csv'),
      'E-Mail,Notes\nkim@example.com,\nlou@example.com,\n',
    );
    await writeFile(join(place, 'import-from.txt'), '1');
    const { code, output } = await run([`${file}.mjs`]);
    expect([code, output]).toEqual([0, '1 [] []\n']);
    const emails = [...messaging.project.contacts.values()].map(({ email }) => email);
    expect(emails).toContain('lou@example.com');
    expect(emails).not.toContain('kim@example.com');
  });
}, 120_000);
