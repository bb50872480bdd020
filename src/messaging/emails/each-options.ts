import {
  anything,
  callback,
  invalidOption,
  oneOf,
  readOptions,
  requestOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';
import { journalMissing, keyIn } from '../../core/once.js';
import { isRecord } from '../../core/values.js';
import type { SendEachOptions } from './each-types.js';

/** The options of `sendEach()`, checked. */
export function readEachOptions(
  given: SendEachOptions | undefined,
  hasJournal: boolean,
): SendEachOptions {
  refuseGone(given);
  const options = readOptions(given, kinds, { name: '`sendEach()`' });
  if (!given || !('once' in given)) {
    return options;
  }
  const once = keyIn(given);
  if (!hasJournal) {
    throw journalMissing('`sendEach()` with `once`');
  }
  return { ...options, once };
}

const kinds: OptionKinds<SendEachOptions> = {
  ...requestOptions,
  once: anything(), // its own check says more
  unknown: oneOf('list', 'send'),
  concurrency: wholeNumber(1),
  from: wholeNumber(0),
  onResult: callback(),
};

const gone: Readonly<Record<string, string>> = {
  key: 'it is `once` now',
  journal: 'give it to the client, `new MessagingClient({ journal })`, and name the mailing `once`',
};

// Left out in silence, a mailing that went on after a crash would begin anew.
function refuseGone(given: unknown): void {
  const name = Object.keys(gone).find((one) => isRecord(given) && given[one] !== undefined);
  if (name !== undefined) {
    throw invalidOption(`\`${name}\` is no option of \`sendEach()\`: ${gone[name]}`);
  }
}
