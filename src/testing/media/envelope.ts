import type { MediaWorld } from './world.js';

/** Wraps an answer in `{ success, data }` where the document, or the fake's `envelopes`, has it. */
export function enclose(
  { options }: MediaWorld,
  data: unknown,
  { isDocumented }: { readonly isDocumented: boolean },
): unknown {
  const { envelopes = 'documented' } = options;
  const isEnclosed = envelopes === 'documented' ? isDocumented : envelopes === 'always';
  return isEnclosed ? { success: true, data } : data;
}
