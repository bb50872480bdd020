import { performance } from 'node:perf_hooks';

// Preloaded into snippets and examples: a minute of waiting takes a second. Loaded before
// everything else, so that the package's timers run fast too.
const speed = 60;
// Time in which the body of a response is read, at normal speed.
const readMs = 100;
// The time limit of a store: the disk does not get faster.
const storeMs = 5_000;
const { fetch, setTimeout } = globalThis;
const now = performance.now.bind(performance);
let underWay = 0;

// A queue that paces its calls reads this clock.
performance.now = () => now() * speed;

const usesDisk = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

// Network and disk do not get faster: while either is in use, timers take their full time.
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
