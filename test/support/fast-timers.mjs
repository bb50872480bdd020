// Preloaded into snippets and examples: a minute of waiting takes a second. It stands before
// everything else, so that the package's own timers run fast too.
const speed = 60;
// The timeout of an attempt is not waiting: no network gets faster by it.
const attemptMs = 30_000;
const { setTimeout } = globalThis;
globalThis.setTimeout = (task, delayMs = 0, ...rest) =>
  setTimeout(task, delayMs === attemptMs ? delayMs : delayMs / speed, ...rest);
