import { isPostreelError } from 'postreel';
import { isError } from '../core/errors.js';
import type { Context } from './context.js';
import { removeKeys } from './environment.js';
import { CommandEnd, exitCodeOf } from './exit-codes.js';

/** Reports why a command ended, and returns its exit code; with `--json` the error is JSON too. */
export function reportFailure(error: unknown, context: Context): number {
  const exitCode = exitCodeOf(error);
  const { output, environment } = context;
  const note = (text: string) => output.note(removeKeys(text, environment));
  if (error instanceof CommandEnd && error.message === '') {
    return exitCode; // the result already shows the reason
  }
  if (output.isJson) {
    note(JSON.stringify({ error: factsOf(error), exitCode }));
    return exitCode;
  }
  if (error instanceof CommandEnd) {
    note(error.message);
    return exitCode;
  }
  note(`${output.paintNote('red', 'error:')} ${messageOf(error)}`);
  for (const hint of hintsOf(error)) {
    note(output.paintNote('dim', `  ${hint}`));
  }
  return exitCode;
}

function messageOf(error: unknown): string {
  if (!isError(error)) {
    return String(error);
  }
  // Errors of a file or a port have these fields; for other errors all three are undefined.
  const { code = '', path, port } = error as NodeJS.ErrnoException & { port?: number };
  if (code === 'EADDRINUSE') {
    return `Port ${String(port)} is taken. Use --port with another number, or --port 0 for any that is free.`;
  }
  const sentence = fileErrors[code];
  return sentence === undefined ? error.message : sentence + (path ? `: ${path}` : '.');
}

const fileErrors: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file',
  EISDIR: 'This is a folder, not a file',
  EACCES: 'This file may not be read or written',
  EEXIST: 'This file already exists; add --force to overwrite it',
};

function factsOf(error: unknown): object {
  return isPostreelError(error) ? error.toJSON() : { message: messageOf(error) };
}

function hintsOf(error: unknown): string[] {
  if (!isPostreelError(error)) {
    return [];
  }
  // The message already names the first field.
  const fields = error.fieldErrors.slice(1).map(({ field, message }) => `\`${field}\` ${message}`);
  const suggestions = error.suggestion === undefined ? [] : [error.suggestion];
  const unknown = 'It may have happened all the same: check before you run this again.';
  return [...fields, ...suggestions, ...(error.outcome === 'unknown' ? [unknown] : [])];
}
