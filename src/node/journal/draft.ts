import { open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { syncFile } from '../file-system.js';
import { isOwnerDead, createOwnerName } from '../pid-scope.js';
import { textOf, type JournalLine } from './lines.js';

const chunkBytes = 1_000_000;
// A draft is written to continuously: one that is older than this has no live owner, wherever its process
// ran.
const staleMs = 900_000;
const ending = '.draft';

/**
 * The new version of a journal while it is written next to the old one. Its name identifies the process or
 * thread that writes it: `<path>.<owner>.draft`.
 */
export class Draft {
  readonly path: string;
  /** The first line, without its end. */
  readonly firstLine: string;
  readonly #handle: FileHandle;
  #size = 0;

  private constructor(path: string, firstLine: string, handle: FileHandle) {
    this.path = path;
    this.firstLine = firstLine;
    this.#handle = handle;
  }

  /** Begins a draft of a journal, under a new id. */
  static async create(journal: string): Promise<Draft> {
    const path = `${journal}.${createOwnerName()}${ending}`;
    const first = textOf(['file', randomUUID()]);
    const draft = new Draft(path, first.trimEnd(), await open(path, 'wx', 0o600));
    await draft.#append(Buffer.from(first));
    return draft;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds lines in chunks, so that other work of the process can run in between. */
  async add(lines: Iterable<JournalLine>): Promise<void> {
    let text = '';
    for (const line of lines) {
      text += textOf(line);
      if (text.length >= chunkBytes) {
        await this.#append(Buffer.from(text));
        text = '';
      }
    }
    await this.#append(Buffer.from(text));
  }

  /** Copies a part of a file without changes. */
  async copy(path: string, from: number, to: number): Promise<void> {
    const source = await open(path, 'r');
    try {
      const buffer = Buffer.alloc(Math.min(chunkBytes, to - from));
      for (let at = from; at < to;) {
        const length = Math.min(buffer.length, to - at);
        const { bytesRead } = await source.read(buffer, 0, length, at);
        if (bytesRead === 0) {
          throw new Error(`${path} became shorter while it was copied`);
        }
        await this.#append(buffer.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await source.close();
    }
  }

  /** Waits until the draft is on the disk. */
  sync(): Promise<void> {
    return syncFile(this.#handle);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  /** Removes the draft. */
  async remove(): Promise<void> {
    await this.#handle.close().catch(() => undefined); // it may be closed already
    await rm(this.path, { force: true });
  }

  async #append(bytes: Buffer): Promise<void> {
    if (bytes.length > 0) {
      await this.#handle.appendFile(bytes);
      this.#size += bytes.length;
    }
  }
}

/** Removes the drafts of dead owners. Resolves to whether another process is writing one. */
export async function isBeingDrafted(journal: string): Promise<boolean> {
  const folder = dirname(journal);
  const prefix = `${basename(journal)}.`;
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(prefix) && name.endsWith(ending),
  );
  let isDrafted = false;
  for (const name of names) {
    const path = join(folder, name);
    const file = await stat(path).catch(() => undefined); // it may have become the journal
    if (isOwnerDead(name.slice(prefix.length)) || Date.now() - (file?.mtimeMs ?? 0) > staleMs) {
      await rm(path, { force: true });
    } else {
      isDrafted = true;
    }
  }
  return isDrafted;
}
