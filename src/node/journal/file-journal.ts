import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fingerprint } from '../../core/values.js';
import {
  SortedTexts,
  type JournalItem,
  type JournalPage,
  type JournalStore,
} from '../../core/journal.js';
import { ConfigurationError, reasonOf } from '../../core/errors.js';
import { withLock, type HeldLock } from '../file-lock.js';
import { hasCode, syncFolder } from '../file-system.js';
import { realPathOf } from '../real-path.js';

// So much is read in no time.
const largeBytes = 1_000_000;
const headerBytes = 80;

/**
 * A journal in a file, for `new MessagingClient({ journal })` and `new MediaClient({ journal })`: one line
 * of JSON for each write, on the disk before it resolves. Several clients and processes of one machine may
 * share it, whichever links lead to it; a killed one leaves at most a torn last line, which is passed over.
 * A large file is rewritten without what is over.
 *
 * @param path - The file; it and its folder are created when needed. Beside it there is a lock.
 */
export function fileJournal(path: string): JournalStore {
  return new FileJournal(path);
}

/**
 * A line: a value that was written where another one stood, named by its fingerprint. Read in order,
 * each finds what it expects or changes nothing, so that of two processes one is first.
 */
type SwapLine = readonly ['swap', key: string, from: string | null, to: string | null, at: number];

/** The first line tells this file from one that was there before it. */
type Line = SwapLine | readonly ['file', id: string];

class FileJournal implements JournalStore {
  readonly #given: string;
  readonly #texts = new SortedTexts();
  /** Which file was read, and how far. */
  #read = { id: '', offset: 0 };
  /** Lines that came while others were written go together the next time. */
  #waiting: Line[] = [];
  #batch: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** How large the file may get before another look whether something in it is over. */
  #maxBytes = largeBytes;
  #hasWarned = false;

  constructor(path: string) {
    this.#given = path;
  }

  async swap(
    key: string,
    from: string | undefined,
    to: string | undefined,
  ): Promise<string | undefined> {
    await this.#append(['swap', key, printOf(from), to ?? null, Date.now()]);
    return this.#texts.get(key);
  }

  async get(key: string): Promise<JournalItem | undefined> {
    await this.#readOn();
    return this.#texts.item(key, Date.now());
  }

  async list(prefix: string, page?: JournalPage): Promise<readonly JournalItem[]> {
    await this.#readOn();
    return this.#texts.list(prefix, page, Date.now());
  }

  // Those who ask while others are read for are told together.
  #readOn(): Promise<void> {
    this.#reading ??= this.#inTurn(async () => {
      this.#reading = undefined;
      await this.#catchUp(await realPathOf(this.#given));
    });
    return this.#reading;
  }

  #append(line: Line): Promise<void> {
    this.#waiting.push(line);
    this.#batch ??= this.#inTurn(() => {
      this.#batch = undefined;
      return this.#write(this.#waiting.splice(0));
    });
    return this.#batch;
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined); // its callers hear of it
    return turn;
  }

  async #write(lines: readonly Line[]): Promise<void> {
    await mkdir(dirname(this.#given), { recursive: true });
    const path = await realPathOf(this.#given);
    await mkdir(dirname(path), { recursive: true });
    const isSafe = await withLock(path, async (lock) => {
      if (this.#read.id === '') {
        await this.#catchUp(path); // refuses a file of an older version, before anything is added to it
      }
      const bytes = await appendSafely(path, lines.map(textOf).join(''));
      // What stands in the file counts: another process may have been faster with a claim.
      await this.#catchUp(path);
      if (bytes > this.#maxBytes) {
        // The lines are on the disk by now.
        await this.#compact(path, lock).catch((reason: unknown) => this.#warn(reason));
      }
      return lock.isHeld();
    });
    // A machine that slept may have written to a file that others replaced; twice does no harm.
    if (!isSafe) {
      await this.#write(lines);
    }
  }

  /** Reads what was added to the file since it was last read. */
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
      const bytes = Buffer.alloc(size - this.#read.offset);
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, this.#read.offset);
      // A line without its end may still be written.
      const end = bytes.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      const lines = linesIn(bytes.subarray(0, end).toString('utf8'));
      if (lines.some(isOld)) {
        this.#forget('');
        throw oldFormat(path);
      }
      lines.forEach((line) => this.#apply(line));
      this.#read.offset += end;
    } finally {
      await handle.close();
    }
  }

  #apply(line: unknown): void {
    if (isSwap(line)) {
      const [, key, from, to, at] = line;
      if (printOf(this.#texts.get(key)) === from) {
        this.#texts.set(key, to ?? undefined, at);
      }
    }
  }

  #forget(id: string): void {
    this.#texts.clear();
    this.#read = { id, offset: 0 };
  }

  async #compact(path: string, lock: HeldLock): Promise<void> {
    const lines = [...this.#texts].map(([key, value, at]) =>
      textOf(['swap', key, null, value, at]),
    );
    const text = lines.join('');
    // What is not over stays: no use in trying again at every write.
    this.#maxBytes = Math.max(largeBytes, 2 * Buffer.byteLength(text));
    const draft = `${path}.tmp`;
    await rm(draft, { force: true }); // a process was killed here
    await appendSafely(draft, text);
    if (await lock.isHeld()) {
      await rename(draft, path);
    }
    await syncFolder(dirname(path));
  }

  #warn(reason: unknown): void {
    if (!this.#hasWarned) {
      this.#hasWarned = true;
      process.emitWarning(
        `The journal ${this.#given} could not be rewritten without what is over (${reasonOf(reason)}). It is complete, and grows until that succeeds.`,
        'PostreelWarning',
      );
    }
  }
}

/** Writes lines at the end of a file and waits for the disk; the answer is the size of the file. */
async function appendSafely(path: string, lines: string): Promise<number> {
  const handle = await open(path, 'a+', 0o600); // prompts may be confidential
  try {
    const { size } = await handle.stat();
    // A file that is rewritten is another one, also where it gets the inode of an older one.
    const start =
      size === 0 ? textOf(['file', randomUUID()]) : (await isTorn(handle, size)) ? '\n' : '';
    await handle.appendFile(start + lines);
    await handle.sync();
    if (size === 0) {
      await syncFolder(dirname(path));
    }
    return size + Buffer.byteLength(start + lines);
  } finally {
    await handle.close();
  }
}

/** Did a killed process leave a line without its end? */
async function isTorn(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== 0x0a;
}

/** What tells this file from one that was there before it: its first line. */
async function idOf(handle: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
  const [first = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
  return first;
}

function textOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** The lines of a text; one that was torn by a crash is passed over. */
function linesIn(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
}

/** Is it a line of the versions that knew no `once`? What it says would be forgotten, and done again. */
function isOld(line: unknown): boolean {
  return Array.isArray(line) && ['put', 'claim', 'delete'].includes(String(line[0]));
}

function oldFormat(path: string): ConfigurationError {
  return new ConfigurationError(
    `The journal ${path} was written by an older version of postreel. Let that version finish the jobs in it, then delete the file or give the client another one: what it holds is not known to this version and would be made again.`,
    { code: 'JOURNAL_FORMAT', outcome: 'not-sent' },
  );
}

function isSwap(value: unknown): value is SwapLine {
  if (!Array.isArray(value) || value.length !== 5) {
    return false;
  }
  const [type, key, from, to, at] = value as unknown[];
  const areTexts = [from, to].every((text) => text === null || typeof text === 'string');
  return type === 'swap' && typeof key === 'string' && areTexts && typeof at === 'number';
}

function printOf(value: string | undefined): string | null {
  return value === undefined ? null : fingerprint(value);
}

function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) {
    throw error;
  }
}
