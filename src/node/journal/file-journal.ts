import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ConfigurationError, reasonOf } from '../../core/errors.js';
import {
  SortedTexts,
  type JournalItem,
  type JournalPage,
  type JournalStore,
} from '../../core/once/journal.js';
import { fingerprint } from '../../core/fingerprint.js';
import { withLock, type HeldLock } from '../file-lock.js';
import { hasCode, requirePath, syncFile, syncFolder } from '../file-system.js';
import { realPathOf } from '../real-path.js';
import { Draft, isBeingDrafted } from './draft.js';
import { isOld, isSwap, parseLine, textOf, type JournalLine } from './lines.js';

// Below this size in bytes a file is read fast enough without compaction.
const largeBytes = 1_000_000;
const chunkBytes = 1_000_000;
const headerBytes = 80;

/**
 * A journal in a file, for `new MessagingClient({ journal })` and `new MediaClient({ journal })`: one line
 * of JSON for each write, on the disk before it resolves. Several clients and processes of one machine may
 * share it, whichever links lead to it. A killed process leaves at most a torn last line, which is ignored.
 * A file of which more than half is obsolete is compacted while calls continue.
 *
 * @param path - The file; it and its folder are created when needed. A relative path is resolved now, so a
 *   later `process.chdir()` changes nothing. A lock is kept next to the file.
 * @throws a `ConfigurationError` when the path is missing
 */
export function fileJournal(path: string): JournalStore {
  requirePath(path, 'fileJournal');
  return new FileJournal(path);
}

/**
 * The file and the lock:
 *
 * | a write                                                          | lock | other calls |
 * | ---------------------------------------------------------------- | ---- | ----------- |
 * | 1. read the lines that other processes have added                | free | continue    |
 * | 2. append the waiting lines, wait for the disk, read to the end  | held | wait        |
 *
 * | compaction, once more than half of the file is obsolete          | lock | other calls |
 * | ---------------------------------------------------------------- | ---- | ----------- |
 * | 1. remove the drafts of dead owners; end if another process has one | free | continue |
 * | 2. write the entries to a draft that begins with a new id        | free | continue, and append to the old file |
 * | 3. copy the lines that were appended in the meantime             | free | continue    |
 * | 4. copy the last lines, rename the draft                         | held | wait        |
 *
 * A process that is killed in 1 to 3 leaves the old file in place. If the first line of the file has changed
 * by step 4, another process has replaced the file: the draft is deleted. Every process compares the first
 * line with the one it knows before it reads, and reads from the start where it differs.
 */
class FileJournal implements JournalStore {
  readonly #given: string;
  readonly #path: string;
  readonly #texts = new SortedTexts();
  /** The first line of the file that this process has read, and the offset up to which it has read. */
  #read = { id: '', offset: 0 };
  /** Lines that arrive during a write; the next write takes them all. */
  #waiting: JournalLine[] = [];
  #batch: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isPathChecked = false;
  #isCompacting = false;
  /** The size in bytes above which compaction is considered. */
  #minBytes = largeBytes;
  #hasWarned = false;

  constructor(path: string) {
    this.#given = path;
    this.#path = resolve(path);
  }

  async swap(
    key: string,
    from: string | undefined,
    to: string | undefined,
  ): Promise<string | undefined> {
    await this.#append(['swap', key, hashOf(from), to ?? null, Date.now()]);
    return this.#texts.get(key);
  }

  async get(key: string): Promise<JournalItem | undefined> {
    await this.load();
    return this.#texts.item(key, Date.now());
  }

  async list(prefix: string, page?: JournalPage): Promise<readonly JournalItem[]> {
    await this.load();
    return this.#texts.list(prefix, page, Date.now());
  }

  /** Reads the lines added to the file. Calls that arrive before the reading begins share it. */
  load(): Promise<void> {
    this.#reading ??= this.#inTurn(async () => {
      this.#reading = undefined;
      await this.#catchUp(await this.#open());
    });
    return this.#reading;
  }

  #append(line: JournalLine): Promise<void> {
    this.#waiting.push(line);
    this.#batch ??= this.#inTurn(() => {
      this.#batch = undefined;
      return this.#write(this.#waiting.splice(0));
    });
    return this.#batch;
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined); // the callers get the error
    return turn;
  }

  /** Resolves the real path of the file. Throws if a relative path may mean two files. */
  async #open(): Promise<string> {
    const path = await realPathOf(this.#path);
    if (!this.#isPathChecked) {
      const now = resolve(this.#given);
      if (now !== this.#path && existsSync(now) && (await realPathOf(now)) !== path) {
        throw ambiguousPath(this.#given, this.#path, now);
      }
      this.#isPathChecked = true;
    }
    return path;
  }

  async #write(lines: readonly JournalLine[]): Promise<void> {
    const path = await this.#open();
    await mkdir(dirname(path), { recursive: true });
    // Read a long file before taking the lock, and reject a file of an older version before anything is added
    // to it.
    await this.#catchUp(path);
    const isSafe = await withLock(path, async (lock) => {
      await appendSafely(path, lines.map(textOf).join(''));
      // The file decides: another process may have been faster with a claim.
      await this.#catchUp(path);
      return lock.isHeld();
    });
    // If the lock was lost (the machine may have slept), the lines may have gone to a file that others have
    // replaced. Write them again, which does no harm.
    if (!isSafe) {
      await this.#write(lines);
      return;
    }
    if (!this.#isCompacting && this.#isWorthCompacting()) {
      this.#isCompacting = true;
      void this.#compact(path)
        .catch((reason: unknown) => this.#warn(reason)) // the lines are already on the disk
        .finally(() => {
          this.#isCompacting = false;
        });
    }
  }

  /** Reads the lines that were added since the last time, in chunks. */
  async #catchUp(path: string): Promise<void> {
    const handle = await open(path, 'r').catch(unlessMissing);
    if (!handle) {
      this.#forget('');
      return;
    }
    try {
      const { size } = await handle.stat();
      const id = await idOf(handle);
      if (id !== this.#read.id || size < this.#read.offset) {
        this.#forget(id);
      }
      let buffer = Buffer.alloc(Math.min(chunkBytes, size - this.#read.offset));
      while (this.#read.offset < size) {
        const length = Math.min(buffer.length, size - this.#read.offset);
        const { bytesRead } = await handle.read(buffer, 0, length, this.#read.offset);
        const end = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
        if (end > 0) {
          this.#applyAll(buffer.toString('utf8', 0, end), path);
          this.#read.offset += end;
        } else if (bytesRead === 0 || this.#read.offset + bytesRead >= size) {
          break; // a line without its end may still be written
        } else {
          buffer = Buffer.alloc(2 * buffer.length); // a line that is longer than the chunk
        }
      }
    } finally {
      await handle.close();
    }
  }

  #applyAll(text: string, path: string): void {
    for (const line of text.split('\n')) {
      const value = parseLine(line);
      if (isOld(value)) {
        this.#forget('');
        throw oldFormat(path);
      }
      if (isSwap(value)) {
        const [, key, from, to, at] = value;
        if (hashOf(this.#texts.get(key)) === from) {
          this.#texts.set(key, to ?? undefined, at, Buffer.byteLength(line) + 1);
        }
      }
    }
  }

  #forget(id: string): void {
    this.#texts.clear();
    this.#read = { id, offset: 0 };
    this.#minBytes = largeBytes;
  }

  #isWorthCompacting(): boolean {
    const { offset } = this.#read;
    return offset > this.#minBytes && offset > 2 * this.#texts.bytes;
  }

  async #compact(path: string): Promise<void> {
    // If this compaction fails, the next one starts once the file has grown by half.
    this.#minBytes = 1.5 * this.#read.offset;
    if (await isBeingDrafted(path)) {
      return;
    }
    const draft = await Draft.create(path);
    try {
      // Read offset and entries in the same step: the draft then holds exactly the lines up to this offset.
      const { id, offset } = this.#read;
      const entries = [...this.#texts];
      await draft.add(linesOf(entries));
      let copiedTo = offset;
      while (this.#read.id === id && this.#read.offset - copiedTo > chunkBytes) {
        const end = this.#read.offset;
        await draft.copy(path, copiedTo, end);
        copiedTo = end;
      }
      await draft.sync(); // most of it, without the lock
      await this.#inTurn(() =>
        withLock(path, (lock) => this.#replace(path, { draft, id, copiedTo, lock })),
      );
    } finally {
      await draft.remove();
    }
  }

  /** Puts the draft in place of the file, unless another process has replaced the file. */
  async #replace(path: string, { draft, id, copiedTo, lock }: Replacement): Promise<void> {
    await this.#catchUp(path);
    if (this.#read.id !== id || this.#read.offset < copiedTo) {
      return;
    }
    if (this.#read.offset > copiedTo) {
      await draft.copy(path, copiedTo, this.#read.offset);
      await draft.sync();
    }
    await draft.close();
    if (!(await lock.isHeld())) {
      return;
    }
    await rename(draft.path, path);
    this.#read = { id: draft.firstLine, offset: draft.size };
    this.#minBytes = largeBytes;
    await syncFolder(dirname(path));
  }

  #warn(reason: unknown): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      process.emitWarning(
        `The journal ${this.#path} could not be compacted (${reasonOf(reason)}). It is complete, and grows until a compaction succeeds.`,
        'PostreelWarning',
      );
    }
  }
}

/** Yields one line per entry, created when it is written. */
function* linesOf(entries: readonly (readonly [string, string, number])[]): Generator<JournalLine> {
  for (const [key, value, at] of entries) {
    yield ['swap', key, null, value, at];
  }
}

interface Replacement {
  readonly draft: Draft;
  /** The first line of the file that was copied. */
  readonly id: string;
  readonly copiedTo: number;
  readonly lock: HeldLock;
}

/** Writes lines at the end of a file and waits for the disk. */
async function appendSafely(path: string, lines: string): Promise<void> {
  const handle = await open(path, 'a+', 0o600); // prompts may be confidential
  try {
    const { size } = await handle.stat();
    // Begin an empty file with a new id: other processes then notice the new file, even if it has the inode
    // of an older one.
    const start =
      size === 0 ? textOf(['file', randomUUID()]) : (await isTorn(handle, size)) ? '\n' : '';
    await handle.appendFile(start + lines);
    await syncFile(handle);
    if (size === 0) {
      await syncFolder(dirname(path));
    }
  } finally {
    await handle.close();
  }
}

/** True if a killed process left a last line without its end. */
async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** The first line, which distinguishes this file from an earlier one with the same path. */
async function idOf(handle: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
  const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
  return first;
}

function oldFormat(path: string): ConfigurationError {
  return new ConfigurationError(
    `The journal ${path} was written by an older version of postreel. Let that version finish the jobs in it, then delete the file or give the client another one: this version does not know the jobs in it, and would make them again.`,
    { code: 'JOURNAL_FORMAT', outcome: 'not-sent' },
  );
}

function ambiguousPath(given: string, path: string, other: string): ConfigurationError {
  return new ConfigurationError(
    `\`fileJournal('${given}')\` was made for ${path}, but the working directory has changed since, and ${other} exists as well. Pass \`fileJournal()\` the absolute path of the journal to use.`,
    { code: 'JOURNAL_PATH', outcome: 'not-sent' },
  );
}

function hashOf(value: string | undefined): string | null {
  return value === undefined ? null : fingerprint(value);
}

function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) {
    throw error;
  }
}
