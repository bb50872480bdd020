// Preloaded to make a process run fast: its timers, and the monotonic clock.
const speed = Number(process.env.SPEED ?? 200);
// The timer of Node's `fetch`, and the time limit of a store: network and disk do not get faster.
const real = new Set([499, 5_000]);
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

performance.now = () => now() * speed;
globalThis.setTimeout = (task, delayMs = 0, ...rest) =>
  setTimeout(task, real.has(delayMs) ? delayMs : delayMs / speed, ...rest);

// Also speeds up the wall clock, from one start time for all processes: p-throttle reads it.
const since = Number(process.env.SPEED_SINCE);
if (since) {
  const wall = Date.now;
  Date.now = () => since + (wall() - since) * speed;
}
