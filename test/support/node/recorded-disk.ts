import fs, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, vi } from 'vitest';

const recordedMethods = ['appendFile', 'sync', 'truncate', 'write', 'writeFile'] as const;

/** Records each change of a file and each `sync`, in order; the disk still executes them. */
export function useRecordedDisk() {
  const changes: string[] = [];
  const names = new WeakMap<object, string>();
  const stalls = new Map<string, () => Promise<void>>();

  async function note(change: string): Promise<void> {
    changes.push(change);
    const stall = stalls.get(change);
    stalls.delete(change);
    await stall?.();
  }

  beforeEach(async () => {
    changes.length = 0;
    stalls.clear();
    const { open, rename } = fs;
    const handle = await open(fileURLToPath(import.meta.url));
    const methods = Object.getPrototypeOf(handle) as FileHandle; // shared by all handles
    await handle.close();
    for (const method of recordedMethods) {
      const own = Reflect.get(methods, method) as (...values: unknown[]) => Promise<never>; // as: one of five methods
      vi.spyOn(methods, method).mockImplementation(async function (
        this: FileHandle,
        ...values: unknown[]
      ) {
        await note(`${method} ${names.get(this)}`);
        return own.apply(this, values);
      });
    }
    vi.spyOn(fs, 'open').mockImplementation(async (path, ...more) => {
      const opened = await open(path, ...more);
      names.set(opened, nameOf(path));
      return opened;
    });
    vi.spyOn(fs, 'rename').mockImplementation(async (from, to) => {
      await note(`rename ${nameOf(from)} to ${nameOf(to)}`);
      return rename(from, to);
    });
    syncBuiltinESMExports();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  return {
    changes,
    /** Runs `stall` once before this change, as if the process stood still there. */
    before(change: string, stall: () => Promise<void>): void {
      stalls.set(change, stall);
    },
  };
}

/** The name of a file, without its random parts. */
function nameOf(path: unknown): string {
  return basename(String(path))
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '*')
    .replace(/^(\.postreel)-.*(\.part(\.json)?)$/, '$1-*$2')
    .replace(/^(jobs\.jsonl)\..*(\.draft)$/, '$1.*$2');
}
