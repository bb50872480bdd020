import { existsSync } from 'node:fs';
import { createCommand } from '../command.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { checkService, type ServiceCheck } from './check-service.js';
import { createJournalOption, createMediaWithJournal } from './saving.js';

/** `postreel status` */
export const status = createCommand<{ readonly journal: string }>({
  name: 'status',
  about: 'check whether both services respond, and list what is in progress',
  options: [createJournalOption()],
  examples: ['status'],
  run: async ({ journal }, context) => {
    const { output } = context;
    const services = await Promise.all([
      checkService('messaging', context),
      checkService('media', context),
    ]);
    const used = services.filter(({ settings }) => settings !== 'none');
    const isMediaUp = services.some(
      ({ service, isReachable }) => service === 'media' && isReachable,
    );
    const { jobs, unknown, mayBeAnswered } =
      isMediaUp && existsSync(journal)
        ? await (await createMediaWithJournal(context, journal)).journal.pending()
        : { jobs: [], unknown: [], mayBeAnswered: [] };
    const counts = {
      pending: jobs.length,
      unknown: unknown.length,
      mayBeAnswered: mayBeAnswered.length,
    };
    const lines = () => [
      ...services.map((service) => lineOf(service, context)),
      `jobs       ${counts.pending} not saved, ${counts.unknown} calls without an answer, ${counts.mayBeAnswered} that may be answered`,
    ];
    output.result({ services, jobs: counts }, () => lines().join('\n'));
    if (used.length === 0) {
      throw new CommandEnd('configuration', 'No service is set up: run `postreel doctor`.');
    }
    const failed = used.find(({ exitCode }) => exitCode !== undefined);
    if (failed?.exitCode !== undefined) {
      throw new CommandEnd(failed.exitCode);
    }
  },
});

function lineOf(check: ServiceCheck, { output }: Context): string {
  const name = check.service.padEnd(9);
  if (check.settings === 'none') {
    return `${name}  ${output.paint('dim', `not set up (${check.problem ?? ''})`)}`;
  }
  if (check.isKeyAccepted) {
    return `${name}  ${output.paint('green', 'ok')} (${check.latencyMs ?? 0} ms)`;
  }
  return `${name}  ${output.paint('red', 'failed')}: ${check.problem ?? ''}`;
}
