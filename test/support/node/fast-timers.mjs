import { performance } from 'node:perf_hooks';

// Preloaded into snippets and examples: a minute of waiting takes a second. It stands before
// everything else, so that the package's own timers run fast too.
const speed = 60;
// From its headers on an answer is read in no time.
const readMs = 100;
// How long a store may take to answer: no disk gets faster by this.
const storeMs = 5_000;
const { fetch, setTimeout } = globalThis;
const now = performance.now.bind(performance);
let underWay = 0;

// A queue that paces its calls reads the time, too.
performance.now = () => now() * speed;

const usesDisk = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

// No network and no disk gets faster by this: while either is at work, timers take their full time.
globalThis.setTimeout = (task, delayMs = 0, ...rest) => {
  const until = now() + delayMs;
  const timer = setTimeout(
    () => {
      if ((underWay > 0 || usesDisk()) && now() < until) {
        timer.refresh();
      } else {
        task(...rest);
      }
    },
    delayMs === storeMs ? delayMs : delayMs / speed,
  );
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
