// Preloaded into snippets and examples: a minute of waiting takes a second. It stands before
// everything else, so that the package's own timers run fast too.
const speed = 60;
const { setTimeout } = globalThis;
globalThis.setTimeout = (task, delayMs = 0, ...rest) => setTimeout(task, delayMs / speed, ...rest);
