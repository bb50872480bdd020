import { randomUUID } from 'node:crypto';
import {
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isRecord } from '../../core/values.js';
import { fingerprint } from '../../core/fingerprint.js';
import { ConfigurationError } from '../../core/errors.js';
import type { ContentRange } from '../../media/download/content-range.js';
import type { DownloadTarget, EarlierDownload } from '../../media/download/download.js';
import { hasCode, syncFile } from '../file-system.js';
import { isRunning, pidScope } from '../pid-scope.js';

// Longer than any pause of a download: an older part has no live owner, wherever its process ran.
const staleMs = 900_000;
const leftOver = 'left';

/**
 * The file next to the target that a download fills. Its name identifies the file and the process that fills
 * it; a second file next to it records the version of the file.
 */
export class PartFile implements DownloadTarget {
  readonly path: string;
  readonly #prefix: string;
  readonly #handle: FileHandle;
  readonly #earlier: EarlierDownload | undefined;

  private constructor(prefix: string, path: string, handle: FileHandle, earlier?: EarlierDownload) {
    this.#prefix = prefix;
    this.path = path;
    this.#handle = handle;
    this.#earlier = earlier;
  }

  /** Takes over the part of an earlier download of the same file, or begins with an empty one. */
  static async open(fileId: string, target: string): Promise<PartFile> {
    const folder = dirname(target);
    const prefix = `.postreel-${fingerprint(JSON.stringify([fileId, basename(target)]))}-`;
    const path = join(folder, `${prefix}${pidScope()}-${process.pid}-${randomUUID()}.part`);
    const earlier = await takeOver(folder, prefix, path);
    return new PartFile(prefix, path, await openFile(path), earlier);
  }

  /** The bytes that an earlier download has received. */
  get earlier(): EarlierDownload | undefined {
    return this.#earlier;
  }

  async begin(_: Response, range: ContentRange): Promise<void> {
    await writeFile(versionFileOf(this.path), JSON.stringify(range), { mode: 0o600 });
  }

  async write(chunk: Uint8Array, position: number): Promise<void> {
    for (let written = 0; written < chunk.length;) {
      const rest = chunk.length - written;
      const { bytesWritten } = await this.#handle.write(chunk, written, rest, position + written);
      written += bytesWritten;
    }
  }

  async restart(): Promise<void> {
    await this.#handle.truncate(0);
  }

  /** Renames the complete file to its target. */
  async finish(target: string): Promise<void> {
    await this.#close();
    await rename(this.path, target);
    await rm(versionFileOf(this.path), { force: true });
  }

  /** Keeps the bytes for a later download of the same file, if that download can identify their version. */
  async keep(): Promise<void> {
    await this.#close();
    const { size } = await stat(this.path);
    if (!(await readEarlierDownload({ path: this.path, bytes: size }))) {
      return this.remove();
    }
    const path = join(dirname(this.path), `${this.#prefix}${leftOver}-${randomUUID()}.part`);
    await rename(versionFileOf(this.path), versionFileOf(path));
    await rename(this.path, path);
  }

  /** Removes all files of the part. */
  async remove(): Promise<void> {
    await this.#handle.close().catch(() => undefined); // it may be closed already
    await rm(this.path, { force: true });
    await rm(versionFileOf(this.path), { force: true });
  }

  // Waits until the bytes are on the disk before the rename: a power cut must not leave a file with holes.
  async #close(): Promise<void> {
    try {
      await syncFile(this.#handle);
    } finally {
      await this.#handle.close();
    }
  }
}

const versionFileOf = (part: string) => `${part}.json`;

/** Takes over the largest part without an owner, and removes the others. */
async function takeOver(
  folder: string,
  prefix: string,
  path: string,
): Promise<EarlierDownload | undefined> {
  const parts = await findAbandoned(folder, prefix);
  for (const part of parts.sort((a, b) => b.bytes - a.bytes)) {
    const received = await readEarlierDownload(part);
    // Two processes may compete for a part: the one whose rename succeeds owns it.
    if (received && (await tryRename(part.path, path))) {
      // Take the version file over too: this download may fail before it learns the version itself.
      await tryRename(versionFileOf(part.path), versionFileOf(path));
      return received;
    }
    await rm(part.path, { force: true });
    await rm(versionFileOf(part.path), { force: true });
  }
  return undefined;
}

interface AbandonedPart {
  readonly path: string;
  readonly bytes: number;
}

async function findAbandoned(folder: string, prefix: string): Promise<AbandonedPart[]> {
  const names = await readdir(folder).catch(() => []);
  const parts: AbandonedPart[] = [];
  for (const name of names) {
    const file = isPart(name, prefix) && (await stat(join(folder, name)).catch(() => undefined));
    if (file && isAbandoned(name.slice(prefix.length), file.mtimeMs)) {
      parts.push({ path: join(folder, name), bytes: file.size });
    }
  }
  return parts;
}

function isPart(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && name.endsWith('.part');
}

function isAbandoned(owner: string, mtimeMs: number): boolean {
  const [scope, pid] = owner.split('-');
  if (scope === leftOver || Date.now() - mtimeMs > staleMs) {
    return true;
  }
  return scope === pidScope() && !isRunning(Number(pid));
}

/**
 * The received bytes of a part, if their version is known. The last byte is requested again to verify the
 * rest.
 */
async function readEarlierDownload({
  path,
  bytes,
}: AbandonedPart): Promise<EarlierDownload | undefined> {
  const facts = await readFile(versionFileOf(path), 'utf8').catch(() => '');
  const range = parse(facts);
  if (!isRecord(range) || bytes < 2) {
    return undefined;
  }
  const { version, totalBytes } = range;
  const known = {
    version: typeof version === 'string' ? version : undefined,
    totalBytes: typeof totalBytes === 'number' ? totalBytes : undefined,
  };
  const canResume = known.version !== undefined && bytes <= (known.totalBytes ?? bytes);
  return canResume
    ? { bytes: bytes - 1, range: { from: 0, isEncoded: false, ...known } }
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function tryRename(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch {
    return false;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Not mode `a`, which would write at the end whatever the position; not `w`, which would truncate the
    // file.
    return await open(path, 'r+').catch(() => open(path, 'wx+'));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) {
      throw error;
    }
    throw new ConfigurationError(
      `The folder ${dirname(path)} does not exist. Create it before you save a file into it.`,
      { code: 'FOLDER_MISSING', cause: error },
    );
  }
}
