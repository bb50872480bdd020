// Preloaded into a process whose time shall run fast: its timers, and the clock they are read by.
const speed = Number(process.env.SPEED ?? 200);
// The beat of Node's own `fetch`, and the patience with a store: no network or disk gets faster by this.
const real = new Set([499, 5_000]);
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

performance.now = () => now() * speed;
globalThis.setTimeout = (task, delayMs = 0, ...rest) =>
  setTimeout(task, real.has(delayMs) ? delayMs : delayMs / speed, ...rest);

// The wall clock too, where all processes count from one moment: p-throttle goes by it.
const since = Number(process.env.SPEED_SINCE);
if (since) {
  const wall = Date.now;
  Date.now = () => since + (wall() - since) * speed;
}
