import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { transform } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { inFolder } from '../../test/support/scripts.js';
import { programs } from '../../test/support/snippets.js';

// Runs every program of the documents and the examples against `npx postreel fake`, and prints what it leaves
// there. `test/docs/effects.processes.test.ts` checks each effect against `startFakeServer()`.

type Counts = Readonly<Record<string, number>>;

describe('against `npx postreel fake`', () => {
  it.concurrent.each(programs())('$name', async ({ name, code }) => {
    const command = ['dist/cli.js', 'fake', '--port', '0', '--speed', '60', '--no-log'];
    const fake = spawn(process.execPath, [...command, '--job-time', '2m', '--seed', '120']);
    try {
      const addresses = parseEnv(await settingsOf(fake.stdout));
      const { origin } = new URL(addresses['MESSAGING_BASE_URL'] ?? '');
      const counts = async () => {
        const response = await fetch(`${origin}/state`);
        return ((await response.json()) as { counts: Counts }).counts; // as: the page's own data
      };
      const before = await counts();
      await inFolder(addresses, async (run, folder) => {
        const { code: script } = await transform(code, { loader: 'ts', format: 'esm' });
        await writeFile(join(folder, 'program.mjs'), script);
        const end = await run([join(folder, 'program.mjs')]);
        expect(end.code, end.output).toBe(0);
      });
      const made = Object.entries(await counts())
        .map(([table, count]) => [table, count - (before[table] ?? 0)] as const)
        .filter(([, count]) => count !== 0);
      console.log(name, ...made.map(([table, count]) => `${count} ${table}`));
    } finally {
      fake.kill();
      await once(fake, 'exit');
    }
  });
});

/** What the command prints on stdout: the lines of an `.env` file. */
async function settingsOf(stdout: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stdout) {
    text += String(chunk);
    if (/^MEDIA_API_KEY=.*\n/m.test(text)) {
      break;
    }
  }
  return text;
}
