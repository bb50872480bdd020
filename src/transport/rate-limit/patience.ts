/**
 * The longest pause that a call sits out when the service asks for one: a 429 that names no time,
 * and several in a row. Whether to wait longer is the caller's to decide, not ours in silence.
 */
export function longestPauseMs(windowMs: number): number {
  return Math.max(2 * windowMs, 60_000);
}
