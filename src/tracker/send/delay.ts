/** No wait is longer: a wrong clock or a far Retry-After cannot stop the queue for good. */
export const LONGEST_WAIT = 3e5;

/** Milliseconds until the next try: `Retry-After` when readable, else doubling with jitter. */
export const delayOf = (retryAfter: string, failures: number): number => {
  const asked = +retryAfter * 1000 || Date.parse(retryAfter) - Date.now();
  const doubling = 2 ** failures * 500 * (1 + Math.random());
  return Math.min(LONGEST_WAIT, asked > doubling ? asked : doubling);
};
