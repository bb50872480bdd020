/** Resolves after some milliseconds. */
export const sleep = (delayMs: number): Promise<undefined> =>
  new Promise((resolve) => setTimeout(resolve, delayMs));

/** The result of some work; `undefined` where it fails or takes longer than this. */
export const within = async <Result>(
  limitMs: number,
  work: Promise<Result>,
): Promise<Result | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
};
