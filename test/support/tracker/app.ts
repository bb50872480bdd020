import { createServer } from 'node:http';
import { build } from 'esbuild';
import { close, listen } from './service.js';

export interface App {
  readonly url: string;
  close(): Promise<void>;
}

/** Bundles an entry for the page as a script that sets one global. */
export async function bundle(entry: string, globalName: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    globalName,
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  return outputFiles[0]!.text;
}

/** As it is shipped: `npm test` builds it first. Bundled once for all sites. */
let shipped: Promise<string> | undefined;

/** Policies of single paths: an opaque origin without any storage, and a network that is shut. */
const POLICIES: Record<string, string> = {
  '/sandbox': 'sandbox allow-scripts',
  '/strict': "connect-src 'none'",
};

/** The site of a customer: `/away` has no tracker, all others start one with what the query asks. */
export async function startApp(serviceUrl: string): Promise<App> {
  shipped ??= bundle('dist/esm/tracker/index.js', 'postreel');
  const script = await shipped;
  const page = `<!doctype html><title>app</title><link rel="icon" href="data:,">
<script src="/tracker.js"></script><script>
window.notices = [];
window.start = (options) => {
  window.tracker = postreel.createTracker({ publicKey: 'pk_test', namespace: 'app', baseUrl: '${serviceUrl}',
    email: 'ann@example.com', limit: { perSecond: 50, burst: 50 }, ...options });
  for (const name of ['delivered', 'dropped', 'retry', 'paused', 'blocked'])
    tracker.on(name, (detail) => notices.push({ name, ...detail }));
};
window.trackMany = (from, to, extra) => {
  for (let n = from; n < to; n++) tracker.track('clicked', { n, ...extra });
};
const asked = decodeURIComponent(location.search.slice(1));
if (asked) {
  const { before, after, speed, ...options } = JSON.parse(asked);
  if (speed) hurry(speed);
  if (before) new Function(before)();
  start(options);
  if (after) new Function(after)();
}
function hurry(speed) {
  const { setTimeout } = window, { now } = Date, start = now();
  // The network is no faster: a request keeps its minute.
  window.setTimeout = (work, delay, ...rest) =>
    setTimeout(work, delay === 6e4 ? delay : delay / speed, ...rest);
  Date.now = () => start + (now() - start) * speed;
}
</script>`;
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    const isScript = path === '/tracker.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.setHeader('Content-Security-Policy', POLICIES[path ?? ''] ?? '');
    const away = '<!doctype html><title>away</title><link rel="icon" href="data:,">';
    response.end(isScript ? script : path === '/away' ? away : page);
  });
  return { url: await listen(server), close: () => close(server) };
}
