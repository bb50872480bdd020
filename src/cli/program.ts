import { styleText } from 'node:util';
import { Command, CommanderError } from 'commander';
import { commands } from './commands/all.js';
import { Context } from './context.js';
import { readEnvironment } from './environment.js';
import { exitCodeMeanings, exitCodes } from './exit-codes.js';
import { reportFailure } from './failure.js';
import { Output, type Streams } from './output.js';
import { version } from './version.js';

/** Runs one command line and resolves to its exit code. */
export async function run(args: readonly string[]): Promise<number> {
  if (args.includes('--no-color')) {
    process.env['NO_COLOR'] = '1'; // Node and libraries read this variable
  }
  const streams: Streams = process;
  const stop = stopOnSignals();
  const context = new Context({
    ...readSettings(),
    streams,
    signal: stop.signal,
    output: new Output(streams),
  });
  try {
    await createProgram(context).parseAsync(args, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    }
    return stop.signal.aborted ? exitCodes.interrupted : reportFailure(error, context);
  } finally {
    stop.forget();
  }
}

function readSettings(): Pick<Context, 'environment' | 'environmentProblem'> {
  try {
    const environment = readEnvironment(process.env, process.cwd());
    return { environment, environmentProblem: undefined };
  } catch (error) {
    // Continue without settings: the help and the commands that need none still work.
    return { environment: process.env, environmentProblem: error as Error }; // as: a CommandEnd
  }
}

/** All commands, ready to read a command line. */
export function createProgram(context: Context): Command {
  const program = new Command('postreel')
    .description('Sends email, makes videos and speech, and runs local fakes of both services.')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print JSON, which is the default without a terminal')
    .option('--no-json', 'print text, also without a terminal')
    .option('--no-color', 'print without colors, as with NO_COLOR=1')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText('after', closing)
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: 20,
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
    })
    .showSuggestionAfterError()
    .exitOverride();
  program.hook('preAction', (_program, command) => {
    const { json } = command.optsWithGlobals<{ json?: boolean }>();
    context.output = new Output(context.streams, json);
  });
  for (const add of commands) {
    add(program, context);
  }
  return program;
}

const closing = `
Keys and addresses come from the environment or from \`.env\` in the current folder:
  MESSAGING_BASE_URL, MESSAGING_API_KEY, MEDIA_BASE_URL, MEDIA_API_KEY

Exit codes:
${Object.entries(exitCodes)
  .map(([end, code]) => `  ${String(code).padEnd(4)} ${meaningOf(end)}`)
  .join('\n')}

Try it without an account:
  $ npx postreel fake --env .env &
  $ npx postreel status
`;

function meaningOf(end: string): string {
  return exitCodeMeanings[end as keyof typeof exitCodes]; // as: `Object.entries()` loses the type of the keys
}

interface StopSignal {
  readonly signal: AbortSignal;
  forget(): void;
}

/**
 * The first Ctrl+C aborts the command, which then ends cleanly; the second one makes Node end the process.
 */
function stopOnSignals(): StopSignal {
  const stop = new AbortController();
  const names = ['SIGINT', 'SIGTERM'] as const;
  const abort = () => stop.abort();
  names.forEach((name) => process.once(name, abort));
  return {
    signal: stop.signal,
    forget: () => names.forEach((name) => process.off(name, abort)),
  };
}
