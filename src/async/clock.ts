/** A number from 0 up to 1. */
export type RandomSource = () => number;

/** Milliseconds that only go forward: the wall clock may be set back while a call waits. */
export function monotonicMs(): number {
  return performance.now();
}
