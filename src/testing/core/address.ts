import type { OptionKind } from '../../core/options.js';

/** The address of a fake, such as `https://messaging.fake`. */
export const address: OptionKind<string> = {
  form: 'an absolute address, such as https://service.fake',
  allows: (value) => typeof value === 'string' && URL.canParse(value),
};

/** Tells one fake from another in its address and keys, also from those of other copies of this package. */
export function fakeId(): string {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return number.toString(36).padStart(7, '0');
}
