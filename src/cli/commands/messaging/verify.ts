import type { Command } from 'commander';
import type { AddressVerification } from 'postreel/messaging';
import type { Context } from '../../context.js';
import type { Output } from '../../terminal/output.js';
import { plain } from '../../terminal/table.js';
import { examples } from '../options.js';

/** `postreel verify` */
export function addVerify(program: Command, context: Context): void {
  program
    .command('verify')
    .description('check whether email addresses can receive email')
    .argument('<email...>', 'addresses to check')
    .addHelpText('after', examples('verify ann@example.com', 'verify a@example.com b@example.com'))
    .action((emails: string[]) => verify(emails, context));
}

async function verify(emails: readonly string[], context: Context): Promise<void> {
  const messaging = await context.messaging();
  for (const email of emails) {
    const found = await messaging.verify({ email }, { signal: context.signal });
    context.output.result(found, () => describe(found, context.output));
  }
}

function describe({ email, valid, reasons }: AddressVerification, output: Output): string {
  const verdict = valid ? output.paint('green', 'valid') : output.paint('red', 'invalid');
  const because = reasons.length === 0 ? '' : `  ${reasons.map(plain).join('; ')}`;
  return `${verdict}  ${plain(email)}${output.paint('dim', because)}`;
}
