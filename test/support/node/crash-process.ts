import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { FakeServer } from 'postreel/testing';

/** What a run of `crash-child.mjs` says at its end. */
export interface CrashReport {
  results: { index: number; prompt: string; fileId?: string; error?: unknown; code?: string }[];
  /** The jobs of which the journal says that nobody knows. */
  unclear: string[];
}

/** How a process ended, and what it printed. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
}

const maxMs = 60_000;

/** Starts the named queue in a process of its own, whose time runs so many times as fast. */
export function startQueue(
  server: FakeServer,
  folder: string,
  films: number,
  speed = 200,
): { readonly kill: () => void; readonly end: Promise<ProcessEnd> } {
  const preload = ['--import', './test/support/node/fast-clock.mjs'];
  const command = [...preload, 'test/support/node/crash-child.mjs', folder, String(films)];
  const env = {
    MEDIA_BASE_URL: server.mediaUrl,
    MEDIA_API_KEY: server.media.apiKey,
    SPEED: String(speed),
  };
  const child = spawn(process.execPath, command, { env: { ...process.env, ...env } });
  // Another signal than the one that is looked for.
  const timer = setTimeout(() => child.kill('SIGTERM'), maxMs);
  child.once('close', () => clearTimeout(timer));
  return { kill: () => void child.kill('SIGKILL'), end: endOf(child) };
}

/** Waits for the end. What it warned of is told only where it failed: in fast time a store is slow. */
export function endOf(child: ChildProcessWithoutNullStreams): Promise<ProcessEnd> {
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  return new Promise<ProcessEnd>((resolve) => {
    child.once('close', (code, signal) => {
      resolve({ code, signal, output: code === 0 ? output : output + errors });
    });
  });
}
