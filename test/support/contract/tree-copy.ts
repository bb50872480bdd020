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

/** That of the repository reads suites which a copy has not. */
const vitestConfig = `
  const source = (path) => new URL('src/' + path, import.meta.url).pathname;
  export default {
    resolve: {
      alias: [
        { find: /^postreel$/, replacement: source('index.ts') },
        { find: /^postreel\\/(.+)$/, replacement: source('$1/index.ts') },
      ],
    },
    test: { testTimeout: 180_000, hookTimeout: 180_000 },
  };
`;

/** A copy of this repository that a test may change. */
export class TreeCopy {
  readonly folder: string;
  readonly #options = compilerOptions();
  readonly #host = rememberingHost(this.#options);

  /** Inside the repository, so that the packages are found. */
  constructor(name: string, parts: readonly string[]) {
    this.folder = resolve('test/.tmp', `${name}-${process.pid}`);
    rmSync(this.folder, { recursive: true, force: true });
    for (const part of parts) {
      mkdirSync(dirname(join(this.folder, part)), { recursive: true });
      cpSync(part, join(this.folder, part), { recursive: true });
    }
    this.write('vitest.config.ts', vitestConfig);
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

  /** Returns the errors of the compiler in the given files. */
  typeErrors(files: readonly string[]): string[] {
    const names = files.map((file) => join(this.folder, file));
    const program = ts.createProgram(names, this.#options, this.#host);
    return names
      .map((name) => program.getSourceFile(name))
      .flatMap((file) => [
        ...program.getSyntacticDiagnostics(file),
        ...program.getSemanticDiagnostics(file),
      ])
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }

  /** Runs tests of the copy; answers whether all passed, and what was printed. */
  async test(files: readonly string[], name: string): Promise<{ passed: boolean; output: string }> {
    const vitest = resolve('node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--experimental.fsModuleCache'];
    const child = spawn(process.execPath, [...args, ...files, '-t', name], { cwd: this.folder });
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

function compilerOptions(): ts.CompilerOptions {
  const config = ts.readConfigFile('tsconfig.base.json', (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, '.');
  return { ...options, noEmit: true };
}

/** Reads a file again only when its text is another one. */
function rememberingHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  const known = new Map<string, ts.SourceFile>();
  host.getSourceFile = (name, ...rest) => {
    const before = known.get(name);
    if (before !== undefined && before.text === host.readFile(name)) {
      return before;
    }
    const file = read(name, ...rest);
    if (file !== undefined) {
      known.set(name, file);
    }
    return file;
  };
  return host;
}
