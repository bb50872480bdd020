import type { Command } from 'commander';
import type { Context } from '../../context.js';
import { probe } from '../../probe/command.js';
import { examples } from '../options.js';

/** `postreel probe` */
export function addProbe(program: Command, context: Context): void {
  program
    .command('probe')
    .summary('ask both services read-only questions about what their documents leave open')
    .description(
      'ask both services read-only questions about what their documents leave open. Prints what it saw and writes behavior.json for `postreel fake --behavior`. Keys, addresses and contents are not written.',
    )
    .addHelpText('after', examples('probe'))
    .action(() => probe({ ...context.environment }, (line) => context.output.note(line)));
}
