/** Resolves after some milliseconds. */
export const sleep = (delayMs: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));

/** Asks the browser for something that may throw, fail or never come: then it is `undefined`. */
export const ask = <Answer>(
  request: (resolve: (answer?: Answer) => void, reject: () => void) => void,
): Promise<Answer | undefined> =>
  Promise.race([new Promise<Answer | undefined>(request), sleep(3000)]).catch(() => undefined);
