import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refusal } from './refusal.js';

/** Names of files in the one folder that the server was given. Tools take names, never paths. */
export class Folder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** The path of a file that is there and does not lead out of the folder. */
  async existing(name: string): Promise<string> {
    const path = this.#inside(name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined || !found.isFile()) {
      throw new Refusal(`There is no file ${JSON.stringify(name)} in the folder of this server.`);
    }
    const [real, folder] = await Promise.all([realpath(path), realpath(this.#path)]);
    if (real !== join(folder, basename(real))) {
      throw new Refusal(`${JSON.stringify(name)} leads out of the folder of this server.`);
    }
    this.#inside(basename(real)); // a link may lead to `.env`
    return real;
  }

  /** The path of a file that is not there yet. */
  async fresh(name: string): Promise<string> {
    const path = this.#inside(name);
    if (
      await stat(path).then(
        () => true,
        () => false,
      )
    ) {
      throw new Refusal(`${JSON.stringify(name)} is there already, and files are not overwritten.`);
    }
    return path;
  }

  #inside(name: string): string {
    if (name !== basename(name) || name.includes('\\') || /^\.|\0/.test(name)) {
      throw new Refusal('Give the name of a file, without a folder and without a dot in front.');
    }
    return join(this.#path, name);
  }
}
