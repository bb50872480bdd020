import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import { emptyFolder } from '../empty-folder.js';

/** The published command: `npm test` builds it first. */
export const command = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** How a command is run. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  /** Options of Node. */
  readonly node?: readonly string[];
}

/** How a command ended whose output went into pipes. */
export interface Piped {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `postreel …` without a terminal. */
export async function piped(args: readonly string[], options: RunOptions = {}): Promise<Piped> {
  const { cwd = emptyFolder(), input = '', node = [] } = options;
  const child = spawn(process.execPath, [...node, command, ...args], {
    cwd,
    env: envOf(options),
    timeout: 25_000,
  });
  const read = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      read[name] += chunk.toString();
    });
  }
  child.stdin.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...read, code })));
}

/** Runs `postreel …` for a reader that leaves before it begins, as `head -0` does. */
export async function unread(args: readonly string[], options: RunOptions = {}): Promise<Piped> {
  const cwd = options.cwd ?? emptyFolder();
  const child = spawn(process.execPath, [command, ...args], {
    cwd,
    env: envOf(options),
    timeout: 25_000,
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve) =>
    child.once('close', (code) => resolve({ stdout: '', stderr, code })),
  );
}

/** A command in a real terminal. */
export interface Terminal {
  /** Everything that was written so far, control characters included. */
  readonly written: string;
  /** The visible text, without styles. */
  readonly text: string;
  /** Resolves when the text has come; rejects when the command ends before. */
  until(text: string): Promise<void>;
  type(keys: string): void;
  /** Resolves to the exit code. */
  readonly ended: Promise<number>;
  kill(signal?: string): void;
}

interface Screen extends RunOptions {
  readonly columns?: number;
}

/** Whether the text itself has colors. */
export function hasColors(written: string): boolean {
  return written.includes('\u001B[3');
}

/** Runs `postreel …` in a terminal of that width. */
export function inTerminal(args: readonly string[], options: Screen = {}): Terminal {
  const { cwd = emptyFolder(), columns = 100 } = options;
  const terminal = spawnTerminal(process.execPath, [command, ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows: 40,
    cwd,
    env: { TERM: 'xterm-256color', ...envOf(options) },
  });
  let written = '';
  let isOver = false;
  let heard: () => void = () => undefined;
  terminal.onData((data) => {
    written += data;
    heard();
  });
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode }) => {
      isOver = true;
      heard();
      resolve(exitCode);
    });
  });
  const text = () => stripVTControlCharacters(written).replaceAll('\r', '');
  return {
    get written() {
      return written;
    },
    get text() {
      return text();
    },
    ended,
    type: (keys) => terminal.write(keys),
    kill: (signal) => terminal.kill(signal),
    until: (wanted) =>
      new Promise((resolve, reject) => {
        heard = () => {
          if (text().includes(wanted)) {
            resolve();
          } else if (isOver) {
            reject(new Error(`The command ended without "${wanted}":\n${text()}`));
          }
        };
        heard();
      }),
  };
}

function envOf({ env = {} }: RunOptions): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...env };
}
