/** Calls a callback of the caller: what it throws, or rejects with later, harms nobody else. */
export function callSafely(callback: () => unknown): void {
  try {
    Promise.resolve(callback()).catch(() => undefined); // an async function fails later
  } catch {
    // It is the caller's to find out.
  }
}
