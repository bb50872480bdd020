import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** How a process ended, and its output. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
}

/**
 * Waits for the end. Shows stderr only if the process failed: with a fast clock, slow stores cause
 * warnings.
 */
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
