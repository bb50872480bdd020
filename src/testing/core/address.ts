import type { OptionKind } from '../../core/options.js';

/** The address of a fake, such as `https://messaging.fake`. */
export const address: OptionKind<string> = {
  form: 'an absolute address, such as https://service.fake',
  allows: (value) => typeof value === 'string' && URL.canParse(value),
};
