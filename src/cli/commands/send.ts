import type { SendRequest } from 'postreel/messaging';
import { attachment } from 'postreel/node';
import { collect, collectData, createCommand, createOption } from '../command.js';
import type { Context } from '../context.js';
import { readText, textOf } from '../environment.js';
import { CommandEnd } from '../exit-codes.js';
import { formatCount } from '../table.js';

interface SendInput {
  readonly to: readonly string[];
  readonly from?: string;
  readonly subject?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly template?: string;
  readonly reply?: string;
  readonly data?: Record<string, unknown>;
  readonly attach?: readonly string[];
}

/** `postreel send` */
export const send = createCommand<SendInput>({
  name: 'send',
  about: 'send an email to one or more people',
  options: [
    createOption(
      '--to <email>',
      'recipient; may be given several times',
      collect,
    ).makeOptionMandatory(),
    createOption('--from <email>', 'sender, whose domain is verified'),
    createOption('--subject <text>', 'subject'),
    createOption('--body <html>', 'body'),
    createOption('--body-file <path>', 'file with the body; - reads stdin'),
    createOption('--template <id>', 'template, instead of a subject and a body'),
    createOption('--reply <email>', 'reply-to address'),
    createOption(
      '--data <name=value>',
      'template variable; may be given several times',
      collectData,
    ),
    createOption('--attach <path>', 'file to attach; may be given several times', collect),
  ],
  examples: [
    'send --from shop@example.com --to ann@example.com --subject Hi --body "<p>Hi</p>"',
    'send --to ann@example.com --template tpl_welcome --data name=Ann --yes',
    'send --from shop@example.com --to ann@example.com --subject News --body-file news.html',
  ],
  plan: async (input, context) => {
    const email = await emailOf(input, context);
    const messaging = await context.messaging();
    const { to, from, subject, template, attach } = input;
    return {
      action: `Send ${formatCount(to.length, 'email')}`,
      facts: { to, from, subject, template, attachments: attach },
      run: async () => {
        const sent = await messaging.send(email, { signal: context.signal });
        const word = context.output.paint('green', 'sent');
        context.output.result(sent, () =>
          sent.emails.map(({ contact, email: id }) => `${word} ${contact.email}  ${id}`).join('\n'),
        );
      },
    };
  },
});

async function emailOf(input: SendInput, context: Context): Promise<SendRequest> {
  const { to, from, subject, template, reply, data, attach } = input;
  const body = await bodyOf(input, context);
  const attachments = attach && (await Promise.all(attach.map((path) => attachment(path))));
  const given = Object.entries({ from, subject, body, template, reply, data, attachments });
  const fields = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  return { to, ...fields } as unknown as SendRequest; // the client checks the combination of fields
}

async function bodyOf({ body, bodyFile }: SendInput, { streams }: Context) {
  if (body !== undefined && bodyFile !== undefined) {
    throw new CommandEnd('usage', 'Use --body or --body-file, not both.');
  }
  if (bodyFile !== '-') {
    return bodyFile === undefined ? body : readText(bodyFile);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of streams.stdin) {
    chunks.push(Buffer.from(chunk as Uint8Array)); // no encoding is set: bytes
  }
  return textOf(Buffer.concat(chunks)).text;
}
