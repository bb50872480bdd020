import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { fileJournal, fileRateBudgetStore } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-thread-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe.skipIf(process.platform !== 'linux')(
  'a worker thread that ends while it holds the lock',
  () => {
    const program = `
    import { withLock } from '${join(process.cwd(), 'src/node/file-lock.ts')}';
    await withLock(process.env.LOCKED, () => new Promise(() => setInterval(() => undefined, 1_000)));`;

    it.each([
      ['a journal', (path: string) => fileJournal(path).swap('a', undefined, '1')],
      ['a rate budget', (path: string) => fileRateBudgetStore(path).close('group', 1_000)],
    ])('leaves the lock of %s to the other threads', async (_, use) => {
      const path = join(folder, 'shared');
      const script = join(folder, 'holder.ts');
      await writeFile(script, program);
      const built = await bundleScript(script);
      const warn = vi.spyOn(process, 'emitWarning');
      const worker = new Worker(built.path, { env: { ...process.env, LOCKED: path } });
      await vi.waitFor(async () => expect(await readdir(`${path}.lock`)).toHaveLength(1), 30_000);
      let isDone = false;
      const waiting = use(path).then(() => {
        isDone = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(isDone).toBe(false);
      await worker.terminate();
      await waiting;
      await built.remove();
      expect(warn).not.toHaveBeenCalled(); // no thread waited for a minute
      warn.mockRestore();
      expect(await readdir(folder)).not.toContain('shared.lock');
    });
  },
);
