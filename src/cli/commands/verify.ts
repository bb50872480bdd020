import { InvalidRequestError, isApiError } from 'postreel';
import type { AddressVerification, MessagingClient } from 'postreel/messaging';
import { createCommand } from '../command.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import type { Output } from '../output.js';
import { toPlainText } from '../table.js';

/** `postreel verify` */
export const verify = createCommand<{ readonly email: readonly string[] }>({
  name: 'verify',
  about: 'check whether email addresses can receive email; ends with 9 where one cannot',
  args: [['<email...>', 'addresses to check']],
  examples: ['verify ann@example.com', 'verify a@example.com b@example.com'],
  run: async ({ email: emails }, context) => {
    const messaging = await context.messaging();
    let hasInvalid = false;
    for (const email of emails) {
      const found = await judge(email, messaging, context);
      hasInvalid ||= !found.valid;
      context.output.result(found, () => describe(found, context.output));
    }
    if (hasInvalid) {
      throw new CommandEnd('different');
    }
  },
});

type AddressVerdict = Pick<AddressVerification, 'email' | 'valid' | 'reasons'>;

/** Checks one address. A malformed one gets a verdict, not an error, so that the others are still checked. */
async function judge(
  email: string,
  messaging: MessagingClient,
  { signal }: Context,
): Promise<AddressVerdict> {
  try {
    return await messaging.verify({ email }, { signal });
  } catch (error) {
    const isAboutAddress =
      isApiError(error) && error.fieldErrors.some(({ field }) => field === 'email');
    if (isAboutAddress || error instanceof InvalidRequestError) {
      return { email, valid: false, reasons: ['is not an email address'] };
    }
    throw error;
  }
}

function describe({ email, valid, reasons }: AddressVerdict, output: Output): string {
  const verdict = valid ? output.paint('green', 'valid') : output.paint('red', 'invalid');
  const because = reasons.length === 0 ? '' : `  ${reasons.map(toPlainText).join('; ')}`;
  return `${verdict}  ${toPlainText(email)}${output.paint('dim', because)}`;
}
