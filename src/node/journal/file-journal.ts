import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { JournalState } from '../../media/jobs/journal-state.js';
import type {
  JournalEntry,
  JournalIntent,
  LoggedJournal,
  NamedJob,
  PendingJobs,
} from '../../media/jobs/journal-types.js';
import { hasCode, syncFolder } from '../file-system.js';
import { entriesIn, lineOf } from './journal-lines.js';
import { withLock, type HeldLock } from '../file-lock.js';

// So much is read in no time; a journal of what is under way stays far below.
const largeBytes = 1_000_000;

/**
 * A journal in a file, for `new MediaClient({ journal })`: one line of JSON per entry, on the disk
 * before `append()` resolves. Several clients and processes may share it; a killed one leaves at
 * most a torn last line, which is passed over. A large file is rewritten without what is over.
 *
 * @param path - The file; it and its folder are created when needed. Beside it there is a lock.
 */
export function fileJournal(path: string): LoggedJournal {
  return new FileJournal(resolve(path));
}

class FileJournal implements LoggedJournal {
  readonly #path: string;
  /** Entries that came while others were written go together the next time. */
  #waiting: string[] = [];
  #batch: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();
  /** How large the file may get before another look whether something in it is over. */
  #mostBytes = largeBytes;

  constructor(path: string) {
    this.#path = path;
  }

  async claim(intent: JournalIntent): Promise<ReadonlyMap<string, NamedJob>> {
    await mkdir(dirname(this.#path), { recursive: true });
    const { taken, isSafe } = await withLock(this.#path, async (lock) => {
      const state = new JournalState(await this.read());
      const taken = state.takenBy(intent, Date.now());
      if (taken.size === 0) {
        await appendSafely(this.#path, lineOf(intent));
      }
      return { taken, isSafe: await lock.isHeld() };
    });
    // A machine that slept may have claimed what others have claimed meanwhile.
    return isSafe ? taken : this.#claimAgain(intent);
  }

  append(entry: JournalEntry): Promise<void> {
    this.#waiting.push(lineOf(entry));
    this.#batch ??= this.#afterLast();
    return this.#batch;
  }

  async find(names: readonly string[]): Promise<ReadonlyMap<string, NamedJob>> {
    return new JournalState(await this.read()).find(names, Date.now());
  }

  async pending(): Promise<PendingJobs> {
    return new JournalState(await this.read()).pending();
  }

  async read(): Promise<readonly JournalEntry[]> {
    try {
      return entriesIn(await readFile(this.#path, 'utf8'));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) {
        return [];
      }
      throw error;
    }
  }

  async #claimAgain(intent: JournalIntent): Promise<ReadonlyMap<string, NamedJob>> {
    await this.append({ type: 'refused', id: intent.id });
    return this.claim(intent);
  }

  #afterLast(): Promise<void> {
    const batch = this.#last.then(() => {
      this.#batch = undefined;
      return this.#write(this.#waiting.splice(0).join(''));
    });
    this.#last = batch.catch(() => undefined); // its callers hear of it
    return batch;
  }

  async #write(lines: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    const isSafe = await withLock(this.#path, async (lock) => {
      const bytes = await appendSafely(this.#path, lines);
      // The entries are on the disk by now, whatever becomes of this.
      if (bytes > this.#mostBytes) {
        await this.#compact(lock).catch(() => undefined);
      }
      return lock.isHeld();
    });
    // A machine that slept may have written to a file that others replaced; twice does no harm.
    if (!isSafe) {
      await this.#write(lines);
    }
  }

  async #compact(lock: HeldLock): Promise<void> {
    const state = new JournalState(await this.read());
    const text = state.compact(randomUUID).map(lineOf).join('');
    // What is not over stays: no use in trying again at every entry.
    this.#mostBytes = Math.max(largeBytes, 2 * Buffer.byteLength(text));
    const draft = `${this.#path}.tmp`;
    await rm(draft, { force: true }); // a process was killed here
    await appendSafely(draft, text);
    if (await lock.isHeld()) {
      await rename(draft, this.#path);
    }
    await syncFolder(dirname(this.#path));
  }
}

/** Writes lines at the end of a file and waits for the disk; the answer is the size of the file. */
async function appendSafely(path: string, lines: string): Promise<number> {
  const handle = await open(path, 'a+', 0o600); // prompts may be confidential
  try {
    const { size } = await handle.stat();
    await handle.appendFile((await isTorn(handle, size)) ? `\n${lines}` : lines);
    await handle.sync();
    if (size === 0) {
      await syncFolder(dirname(path));
    }
    return size + Buffer.byteLength(lines);
  } finally {
    await handle.close();
  }
}

/** Did a killed process leave a line without its end? */
async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) {
    return false;
  }
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}
