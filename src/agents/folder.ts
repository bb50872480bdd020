import { randomUUID } from 'node:crypto';
import { link, lstat, realpath, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isRecord } from '../core/values.js';
import { ToolRefusal } from './text.js';

/** The files in the one folder of the server. Tools take file names, never paths. */
export class Folder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The path of an existing file; throws if it leads out of the folder. */
  async resolveExisting(name: string): Promise<string> {
    const path = this.#pathOf(name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || !found.isFile()) {
      throw new ToolRefusal(
        `There is no file ${JSON.stringify(name)} in the folder of this server.`,
      );
    }
    const [real, folder] = await Promise.all([realpath(path), realpath(this.#path)]);
    if (real !== join(folder, basename(real))) {
      throw new ToolRefusal(`${JSON.stringify(name)} leads out of the folder of this server.`);
    }
    this.#pathOf(basename(real)); // a link may lead to `.env`
    return real;
  }

  /** Throws if a file of this name exists. */
  async assertFree(name: string): Promise<void> {
    const path = this.#pathOf(name);
    // A saved file must not be mistaken for a list of contacts or a program later.
    if (!/\.(mp4|mov|mp3|wav)$/i.test(name)) {
      throw new ToolRefusal('Give a name that ends in .mp4, .mov, .mp3 or .wav.');
    }
    if (await lstat(path).catch(() => undefined)) {
      throw fileExistsError(name);
    }
  }

  /**
   * Lets `write` create a new file. The file gets its name when it is complete, and only if the name is still
   * free.
   */
  async add(name: string, write: (path: string) => Promise<unknown>): Promise<void> {
    const path = this.#pathOf(name);
    const part = join(this.#path, `.${randomUUID()}.part`);
    try {
      await write(part);
      await link(part, path); // never replaces an existing file
    } catch (error) {
      if (isRecord(error) && error['code'] === 'EEXIST') {
        throw fileExistsError(name);
      }
      throw error;
    } finally {
      await rm(part, { force: true });
    }
  }

  #pathOf(name: string): string {
    if (name !== basename(name) || name.includes('\\') || /^\.|\0/.test(name)) {
      throw new ToolRefusal(
        'Give the name of a file, without a folder and without a dot in front.',
      );
    }
    return join(this.#path, name);
  }
}

function fileExistsError(name: string): ToolRefusal {
  return new ToolRefusal(
    `${JSON.stringify(name)} already exists, and files are not overwritten: give another name.`,
  );
}
