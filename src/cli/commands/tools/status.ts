import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { defaultJournal, mediaWithJournal } from '../media/saving.js';
import { examples } from '../options.js';
import { checkService, type ServiceCheck } from './check-service.js';

/** `postreel status` */
export function addStatus(program: Command, context: Context): void {
  program
    .command('status')
    .description('say whether both services answer, and what is under way')
    .option('--journal <path>', 'where jobs are written down', defaultJournal)
    .addHelpText('after', examples('status'))
    .action(({ journal }: { readonly journal: string }) => status(journal, context));
}

async function status(journal: string, context: Context): Promise<void> {
  const { output } = context;
  const services = await Promise.all([
    checkService('messaging', context),
    checkService('media', context),
  ]);
  const { jobs, unknown } = existsSync(journal)
    ? await pendingIn(journal, context)
    : { jobs: [], unknown: [] };
  const counts = { pending: jobs.length, unknown: unknown.length };
  const lines = () => [
    ...services.map((service) => lineOf(service, context)),
    `jobs       ${counts.pending} not saved, ${counts.unknown} calls without an answer`,
  ];
  output.result({ services, jobs: counts }, () => lines().join('\n'));
  const used = services.filter(({ isConfigured }) => isConfigured);
  if (used.length === 0) {
    throw new CommandEnd('configuration', 'No service is set up: run `postreel doctor`.');
  }
  if (used.some(({ isReachable }) => !isReachable)) {
    throw new CommandEnd('unavailable');
  }
  if (used.some(({ isKeyAccepted }) => !isKeyAccepted)) {
    throw new CommandEnd('configuration');
  }
}

async function pendingIn(path: string, context: Context) {
  const media = await mediaWithJournal(context, path);
  return media.journal.pending();
}

function lineOf(check: ServiceCheck, { output }: Context): string {
  const name = check.service.padEnd(9);
  if (!check.isConfigured) {
    return `${name}  ${output.paint('dim', `not set up (${check.problem ?? ''})`)}`;
  }
  if (check.isKeyAccepted) {
    return `${name}  ${output.paint('green', 'ok')} (${check.latencyMs ?? 0} ms)`;
  }
  return `${name}  ${output.paint('red', 'failed')}: ${check.problem ?? ''}`;
}
