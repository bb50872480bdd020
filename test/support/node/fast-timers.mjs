import { performance } from 'node:perf_hooks';

// Preloaded into snippets and examples: a minute of waiting takes a second. It stands before
// everything else, so that the package's own timers run fast too.
const speed = 60;
// From its headers on an answer is read in no time.
const readMs = 100;
const heldUpMs = 20;
const { fetch, setTimeout } = globalThis;
const now = performance.now.bind(performance);
let underWay = 0;

// A queue that paces its calls reads the time, too.
performance.now = () => now() * speed;

const usesDisk = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

// No network and no disk gets faster by this: while either is at work, timers take their full time.
globalThis.setTimeout = (task, delayMs = 0, ...rest) => {
  const until = now() + delayMs;
  let due = now() + delayMs / speed;
  const timer = setTimeout(() => {
    // A process that was held up has not read yet what has come meanwhile.
    const wasHeldUp = now() - due > heldUpMs;
    due = Number.POSITIVE_INFINITY;
    if ((underWay > 0 || usesDisk() || wasHeldUp) && now() < until) {
      timer.refresh();
    } else {
      task(...rest);
    }
  }, delayMs / speed);
  return timer;
};

globalThis.fetch = async (...request) => {
  underWay++;
  try {
    return await fetch(...request);
  } finally {
    setTimeout(() => underWay--, readMs).unref();
  }
};
