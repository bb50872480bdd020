import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** How a process ended, and what it printed. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
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
