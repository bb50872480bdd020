import { createInterface } from 'node:readline/promises';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { plain } from './table.js';

/** As JSON a date is in ISO 8601, and a list is a list. */
type Fact = string | number | Date | readonly string[];

/** What a command is about to do. */
export interface Plan {
  /** One line: `Send 1 email`. */
  readonly action: string;
  /** What it is about, by name. */
  readonly facts: Readonly<Record<string, Fact | undefined>>;
}

/** Shows the plan and goes on only with `--yes`, or a yes typed in a terminal. */
export async function confirm(
  plan: Plan,
  { yes = false }: { readonly yes?: boolean },
  context: Context,
): Promise<void> {
  if (yes) {
    return;
  }
  const { output, streams } = context;
  if (output.isJson || !streams.stdin.isTTY) {
    output.result({ plan, confirmed: false }, () => textOf(plan, context));
    throw new CommandEnd('notConfirmed', 'Nothing was done. Add --yes to carry out this plan.');
  }
  output.note(textOf(plan, context));
  if (!(await isYes(context))) {
    throw new CommandEnd('notConfirmed', 'Nothing was done.');
  }
}

function textOf({ action, facts }: Plan, { output }: Context): string {
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${output.paintNote('dim', `${name}:`)} ${plain(shown(value))}`);
  return [output.paintNote('bold', `${action}:`), ...lines].join('\n');
}

function shown(fact: Fact | undefined): string {
  if (fact instanceof Date) {
    return fact.toLocaleTimeString();
  }
  return typeof fact === 'object' ? fact.join(', ') : String(fact);
}

async function isYes({ streams, signal }: Context): Promise<boolean> {
  const lines = createInterface({ input: streams.stdin, output: streams.stderr });
  // Ctrl+C in a question arrives here and not as a signal.
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    const either = AbortSignal.any([signal, closed.signal]);
    return /^y(es)?$/i.test((await lines.question('Go on? [y/N] ', { signal: either })).trim());
  } catch {
    return false;
  } finally {
    lines.close();
  }
}
