/** Resolves after some milliseconds. */
export const sleep = (delayMs: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));
