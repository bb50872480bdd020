import {
  callback,
  oneOf,
  text,
  wholeNumber,
  type OptionKinds,
  requestOptions,
} from '../../core/options.js';
import { journalKind } from '../../journal/option.js';
import type { SendEachOptions } from './each-types.js';

/** The options of `sendEach()`. */
export const sendEachOptions: OptionKinds<SendEachOptions> = {
  ...requestOptions,
  journal: journalKind,
  key: text,
  unknown: oneOf('list', 'send'),
  concurrency: wholeNumber(1),
  from: wholeNumber(0),
  onResult: callback(),
};
