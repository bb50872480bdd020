import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

const folders: string[] = [];

/** A new folder outside the project; removed once the tests of the file have ended. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postreel-'));
  folders.push(folder);
  return folder;
}

// Scripts that draw pictures make folders, too.
if (process.env['VITEST']) {
  afterAll(() => {
    for (const folder of folders.splice(0)) {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
