const maxLength = 200;

/**
 * Why a store or a function of the user's own failed, in one line without a password: drivers like to
 * quote the address that they connect to.
 */
export function reasonOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message || failure.name : String(failure);
  return text
    .replace(/\/\/[^/@\s]*@/g, '//')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxLength);
}
