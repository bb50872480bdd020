import type { Command } from 'commander';
import type { Context } from '../../context.js';
import { confirm } from '../../terminal/confirm.js';
import { collectData, examples, yesOption } from '../options.js';

interface Flags {
  readonly data?: Record<string, unknown>;
  readonly yes?: boolean;
}

/** `postreel track` */
export function addTrack(program: Command, context: Context): void {
  program
    .command('track')
    .description('track an event of a contact, which may start workflows')
    .argument('<email>', 'contact; a new one is created')
    .argument('<event>', 'name of the event')
    .option('--data <name=value>', 'data of the event; may be given several times', collectData)
    .addOption(yesOption())
    .addHelpText('after', examples('track ann@example.com signed_up --data plan=pro --yes'))
    .action((email: string, event: string, flags: Flags) =>
      track({ email, event }, flags, context),
    );
}

async function track(
  { email, event }: { readonly email: string; readonly event: string },
  flags: Flags,
  context: Context,
): Promise<void> {
  const messaging = await context.messaging();
  const data = flags.data === undefined ? undefined : JSON.stringify(flags.data);
  await confirm({ action: 'Track 1 event', facts: { event, email, data } }, flags, context);
  const body = { email, event, ...(flags.data !== undefined && { data: flags.data }) };
  const tracked = await messaging.track(body, { signal: context.signal });
  const { output } = context;
  output.result(tracked, () => `${output.paint('green', 'tracked')} ${event} of ${email}`);
}
