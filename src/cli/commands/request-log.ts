import type { ServedRequest } from '../../testing/server.js';
import type { Context } from '../context.js';
import type { Style } from '../output.js';

/** One line for a request to a fake; `undefined` for those of the web page. */
export function lineOf(
  { method, path, status, durationMs }: ServedRequest,
  { output }: Pick<Context, 'output'>,
): string | undefined {
  if (!/^\/(messaging|media|cdn)(\/|$)/.test(path)) {
    return undefined;
  }
  const time = new Date().toISOString().slice(11, 19);
  const shown = output.paintNote(styleOf(status), String(status ?? '---'));
  const late = output.paintNote('dim', `${durationMs.toFixed(0)} ms`);
  return `${output.paintNote('dim', time)} ${shown} ${method.padEnd(6)} ${path} ${late}`;
}

function styleOf(status: number | undefined): Style {
  if (status === undefined || status >= 500) {
    return 'red';
  }
  return status >= 400 ? 'yellow' : 'green';
}
