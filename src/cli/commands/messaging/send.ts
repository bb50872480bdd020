import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { SendRequest } from 'postreel/messaging';
import { attachment } from 'postreel/node';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { confirm } from '../../terminal/confirm.js';
import { collect, collectData, examples, yesOption } from '../options.js';

interface Flags {
  readonly to: readonly string[];
  readonly from?: string;
  readonly subject?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly template?: string;
  readonly reply?: string;
  readonly data?: Record<string, unknown>;
  readonly attach?: readonly string[];
  readonly yes?: boolean;
}

/** `postreel send` */
export function addSend(program: Command, context: Context): void {
  program
    .command('send')
    .description('send an email to one or more people')
    .requiredOption('--to <email>', 'recipient; may be given several times', collect)
    .option('--from <email>', 'sender, whose domain is verified')
    .option('--subject <text>', 'subject')
    .option('--body <html>', 'body')
    .option('--body-file <path>', 'file with the body; - reads stdin')
    .option('--template <id>', 'template, instead of a subject and a body')
    .option('--reply <email>', 'reply-to address')
    .option('--data <name=value>', 'template variable; may be given several times', collectData)
    .option('--attach <path>', 'file to attach; may be given several times', collect)
    .addOption(yesOption())
    .addHelpText(
      'after',
      examples(
        'send --from shop@example.com --to ann@example.com --subject Hi --body "<p>Hi</p>"',
        'send --to ann@example.com --template tpl_welcome --data name=Ann --yes',
        'send --from shop@example.com --to ann@example.com --subject News --body-file news.html',
      ),
    )
    .action((flags: Flags) => send(flags, context));
}

async function send(flags: Flags, context: Context): Promise<void> {
  const email = await emailOf(flags, context);
  const messaging = await context.messaging();
  const { to, from, subject, template, attach = [] } = flags;
  const facts = {
    to,
    from,
    subject,
    template,
    attachments: attach.length > 0 ? attach : undefined,
  };
  const action = `Send ${to.length} ${to.length === 1 ? 'email' : 'emails'}`;
  await confirm({ action, facts }, flags, context);
  const sent = await messaging.send(email, { signal: context.signal });
  const { output } = context;
  const lines = () =>
    sent.emails.map(
      ({ contact, email: id }) => `${output.paint('green', 'sent')} ${contact.email}  ${id}`,
    );
  output.result(sent, () => lines().join('\n'));
}

async function emailOf(flags: Flags, context: Context): Promise<SendRequest> {
  const { to, from, subject, template, reply, data, attach } = flags;
  const body = await bodyOf(flags, context);
  const attachments = attach && (await Promise.all(attach.map((path) => attachment(path))));
  const given = Object.entries({ from, subject, body, template, reply, data, attachments });
  const fields = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  return { to, ...fields } as unknown as SendRequest; // the client checks what goes together
}

async function bodyOf({ body, bodyFile }: Flags, { streams }: Context) {
  if (body !== undefined && bodyFile !== undefined) {
    throw new CommandEnd('usage', 'Use --body or --body-file, not both.');
  }
  if (bodyFile !== '-') {
    return bodyFile === undefined ? body : readFile(bodyFile, 'utf8');
  }
  const chunks: Buffer[] = [];
  for await (const chunk of streams.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array)); // no encoding is set: bytes
  }
  return Buffer.concat(chunks).toString('utf8');
}
