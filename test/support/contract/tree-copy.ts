import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** A place where the text of a file grows: after `after`, or at its end. */
export interface Addition {
  readonly file: string;
  readonly after?: string;
  readonly text: string;
}

/** A copy of this repository that a test may change. */
export class TreeCopy {
  readonly folder: string;
  #program: ts.Program | undefined;

  /** Inside the repository, so that the packages are found. */
  constructor(name: string, parts: readonly string[]) {
    this.folder = resolve('test/.tmp', `${name}-${process.pid}`);
    rmSync(this.folder, { recursive: true, force: true });
    for (const part of parts) {
      mkdirSync(dirname(join(this.folder, part)), { recursive: true });
      cpSync(part, join(this.folder, part), { recursive: true });
    }
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), text);
  }

  /** Adds texts, and answers a function that takes them away again. */
  add(additions: readonly Addition[]): () => void {
    const before = additions.map(({ file }) => ({ file, text: readFileSync(file, 'utf8') }));
    for (const { file, after, text } of additions) {
      const old = this.read(file);
      const at = after === undefined ? old.length : old.indexOf(after) + after.length;
      if (after !== undefined && !old.includes(after)) {
        throw new Error(`${file} has no ${after}`);
      }
      this.write(file, old.slice(0, at) + text + old.slice(at));
    }
    return () => before.forEach(({ file, text }) => this.write(file, text));
  }

  /** What the compiler says about the given files and all that they import. */
  typeErrors(files: readonly string[]): string[] {
    const config = ts.readConfigFile('tsconfig.base.json', (path) => ts.sys.readFile(path));
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, '.');
    const names = files.map((file) => join(this.folder, file));
    this.#program = ts.createProgram(names, { ...options, noEmit: true }, undefined, this.#program);
    return ts
      .getPreEmitDiagnostics(this.#program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }

  /** Runs tests of the copy; answers whether all passed, and what was printed. */
  async test(files: readonly string[], name: string): Promise<{ passed: boolean; output: string }> {
    const vitest = resolve('node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--project', 'units', ...files, '-t', name];
    const child = spawn(process.execPath, args, { cwd: this.folder });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      output += String(chunk);
    });
    const code = await new Promise((end) => child.on('close', end));
    return { passed: code === 0, output };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
