/**
 * Marks a `fetch` that takes an address and an init and needs no `Request` made for it. Shared by
 * all copies of the package in a process.
 */
export const direct = Symbol.for('postreel.directFetch');

/** Is this such a `fetch`? */
export function isDirect(fetch: typeof globalThis.fetch): boolean {
  return direct in fetch;
}
