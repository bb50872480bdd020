import { createInterface } from 'node:readline/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import type { Context } from './context.js';
import { CommandEnd } from './exit-codes.js';
import { toPlainText } from './table.js';

/**
 * The description of a command. Its input has its arguments and options by name. A command either runs at
 * once, or plans: then the plan is shown, and carried out with `--yes` or after a yes in the terminal.
 */
export type CommandFacts<Input> = {
  /** The full name, such as `contacts import`: a command in a group has the group's name in front. */
  readonly name: string;
  /** One line, for the list of commands. */
  readonly about: string;
  /** More text for the command's help. */
  readonly more?: string;
  readonly args?: readonly Arg[];
  readonly options?: readonly Option[];
  /** Without `postreel` in front. */
  readonly examples: readonly string[];
} & (
  | { readonly run: (input: Input, context: Context) => Promise<void> }
  | { readonly plan: (input: Input, context: Context) => Promise<CommandPlan> }
);

/** An argument or option, such as `['<file>', 'CSV file']`, with an optional default. */
type Arg = readonly [name: string, about: string, preset?: string];

/** A value in a plan. In JSON a date becomes ISO 8601, and a list an array. */
type PlanValue = string | number | Date | readonly string[];

/** The effect of a command, shown before it runs. */
export interface CommandPlan {
  /** One line, such as `Send 1 email`. */
  readonly action: string;
  /** The details, by name. */
  readonly facts: Readonly<Record<string, PlanValue | undefined>>;
  readonly run: () => Promise<void>;
  /** The command changes nothing: it runs without a question. */
  readonly changesNothing?: boolean;
}

/** Adds one command to the program. */
export type AddCommand = (program: Command, context: Context) => void;

/** Creates a command from its description. */
export function createCommand<Input>(facts: CommandFacts<Input>): AddCommand {
  return (program, context) => {
    const { name, about, more, args = [], options = [], examples } = facts;
    const words = name.split(' ');
    const own = groupOf(words, program).command(words.at(-1) ?? '');
    own.summary(about).description(more === undefined ? about : `${about}. ${more}`);
    for (const [arg, help, preset] of args) {
      own.argument(arg, help, preset);
    }
    for (const each of options) {
      own.addOption(each);
    }
    if ('plan' in facts) {
      own.addOption(createOption('-y, --yes', 'go ahead without asking'));
    }
    const lines = examples.map((line) => `  $ postreel ${line}`).join('\n');
    own.addHelpText('after', `\nExamples:\n${lines}`);
    own.action(async () => {
      const flags = own.opts<{ yes?: boolean }>();
      const given: readonly unknown[] = own.processedArgs;
      const values = own.registeredArguments.map((arg, at) => [arg.name(), given[at]] as const);
      const input = { ...Object.fromEntries(values), ...flags } as Input; // as: the description declares these names
      if ('run' in facts) {
        await facts.run(input, context);
        return;
      }
      const plan = await facts.plan(input, context);
      await (plan.changesNothing ? undefined : confirm(plan, flags.yes ?? false, context));
      await plan.run();
    });
  };
}

const groups: Readonly<Record<string, string>> = {
  contacts: 'list, import and export contacts',
  workflows: 'workflows that are written as code',
  jobs: 'media jobs that are not over',
};

function groupOf(words: readonly string[], program: Command): Command {
  const [name = ''] = words;
  if (words.length === 1) {
    return program;
  }
  const found = program.commands.find((each) => each.name() === name);
  return found ?? program.command(name).description(groups[name] ?? '');
}

/** Creates an option whose value is parsed by `parse`. */
export function createOption<Value>(
  flags: string,
  about: string,
  parse?: (text: string, earlier: never) => Value,
  preset?: Value,
): Option {
  const made = new Option(flags, about);
  if (parse) {
    made.argParser(parse as (text: string) => Value); // as: the earlier value is of the same option
  }
  return preset === undefined ? made : made.default(preset);
}

/** Reads a whole number of at least `least`. */
export function parseWholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < least || value > most) {
      const range = most === Number.MAX_SAFE_INTEGER ? `${least} or more` : `${least} to ${most}`;
      throw new InvalidArgumentError(`It must be a whole number, ${range}.`);
    }
    return value;
  };
}

/** Reads a number above zero. */
export function parsePositiveNumber(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('It must be a number above 0.');
  }
  return value;
}

/** Reads a duration, such as `15s` or `2m`. */
export function parseDuration(text: string): string {
  if (!/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
    throw new InvalidArgumentError('It must be a duration, such as 500ms, 15s, 2m or 1h.');
  }
  return text;
}

/** Collects `--data name=value`. A value that is valid JSON is parsed; any other value stays a string. */
export function collectData(
  text: string,
  earlier: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const [name, value] = parsePair(text);
  return { ...earlier, [name]: parseValue(value) };
}

/** Collects `--columns name=field`; without a field the column is dropped. */
export function collectColumns(
  text: string,
  earlier: Readonly<Record<string, string | null>> = {},
): Record<string, string | null> {
  const [name, field] = parsePair(text);
  return { ...earlier, [name]: field === '' ? null : field };
}

/** Collects an option that may be given several times. */
export function collect(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, text];
}

function parsePair(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) {
    throw new InvalidArgumentError('Write it as name=value.');
  }
  return [text.slice(0, at), text.slice(at + 1)];
}

// Keep digits as a string if a number would change them, such as those of a phone number.
function parseValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text || typeof value === 'object' ? value : text;
  } catch {
    return text;
  }
}

/** True if a person at the terminal can be asked. */
export function canAsk({ output, streams }: Context): boolean {
  return !output.isJson && streams.stdin.isTTY;
}

/** Shows the plan, and continues only with `--yes` or a yes typed in the terminal. */
async function confirm(plan: CommandPlan, isConfirmed: boolean, context: Context): Promise<void> {
  if (isConfirmed) {
    return;
  }
  const { output } = context;
  if (!canAsk(context)) {
    const { action, facts } = plan;
    const shown = { plan: { action, facts }, confirmed: false };
    output.result(shown, () => textOf(plan, context));
    throw new CommandEnd('notConfirmed', 'Nothing was done. Add --yes to carry out this plan.');
  }
  output.note(textOf(plan, context));
  if (!(await askToContinue(context))) {
    throw new CommandEnd('notConfirmed', 'Nothing was done.');
  }
}

function textOf({ action, facts }: CommandPlan, { output }: Context): string {
  const lines = Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `  ${output.paintNote('dim', `${name}:`)} ${toPlainText(formatValue(value))}`,
    );
  return [output.paintNote('bold', `${toPlainText(action)}:`), ...lines].join('\n');
}

function formatValue(fact: PlanValue | undefined): string {
  if (fact instanceof Date) {
    return fact.toLocaleTimeString();
  }
  return typeof fact === 'object' ? fact.join(', ') : String(fact);
}

async function askToContinue(context: Context): Promise<boolean> {
  return /^y(es)?$/i.test(await ask('Go on? [y/N] ', context));
}

/** Asks a question in the terminal. The answer is empty if the person leaves. */
export async function ask(question: string, { streams, signal }: Context): Promise<string> {
  const lines = createInterface({ input: streams.stdin, output: streams.stderr });
  // During a question, Ctrl+C arrives as this event and not as a signal.
  const closed = new AbortController();
  lines.once('close', () => closed.abort());
  try {
    const either = AbortSignal.any([signal, closed.signal]);
    return (await lines.question(question, { signal: either })).trim();
  } catch {
    return '';
  } finally {
    lines.close();
  }
}
