import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { Readable } from 'node:stream';
import { build } from 'esbuild';
import { createTrackProxy } from 'postreel/tracker/proxy';
import { close, listen } from './service.js';

export interface App {
  readonly url: string;
  /** The status of each request to the proxy at `/collect`. */
  readonly proxied: readonly number[];
  close(): Promise<void>;
}

/** Bundles a module for the page as a script that sets one global. */
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

/** The bundle of the built package: `npm test` builds it first. Bundled once for all sites. */
let shipped: Promise<string> | undefined;
let reactPage: Promise<string> | undefined;
let extras: Promise<string> | undefined;

/** Content security policies of single paths: an opaque origin without storage, and no network. */
const POLICIES: Record<string, string> = {
  '/sandbox': 'sandbox allow-scripts',
  '/consent': 'sandbox allow-scripts',
  '/strict': "connect-src 'none'",
  '/snippet/trusted': "require-trusted-types-for 'script'; trusted-types postreel",
  '/snippet/untrusted': "require-trusted-types-for 'script'; trusted-types other",
  '/snippet/refused': "script-src 'unsafe-inline'",
};

/** Bundles the documented recipe for consent, with the address of the service. */
async function bundleRecipe(serviceUrl: string): Promise<string> {
  const text = readFileSync('docs/recipes/consent.md', 'utf8');
  const contents = (/```ts\n([\s\S]*?)```/.exec(text)?.[1] ?? '')
    .replace(/https:[^']+/, serviceUrl)
    .replace('pk_…', 'pk_test');
  const { outputFiles } = await build({
    stdin: { contents, loader: 'ts', resolveDir: '.' },
    alias: { 'postreel/tracker': './dist/esm/tracker/index.js' },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'recipe',
  });
  return outputFiles[0]!.text;
}

/** The documented inline snippet, with the address of the service. */
const snippetFor = (serviceUrl: string): string =>
  (
    /<script>\s+\(function[\s\S]*?<\/script>/.exec(
      readFileSync('docs/tracker-script.md', 'utf8'),
    )?.[0] ?? ''
  ).replace(
    "publicKey: 'pk_…', baseUrl: '…'",
    `publicKey: 'pk_test', namespace: 'app', baseUrl: '${serviceUrl}'`,
  );

/**
 * The site of a customer: `/away` has no tracker, all other pages start one with the options in the
 * query.
 */
export async function startApp(serviceUrl: string): Promise<App> {
  shipped ??= bundle('dist/esm/tracker/index.js', 'postreel');
  const script = await shipped;
  const page = `<!doctype html><title>app</title><link rel="icon" href="data:,">
<script src="/tracker.js"></script><script>
window.notices = [];
// A different host makes it a different site; the same server answers for both.
const away = new URL('/away', location.href);
away.hostname = 'localhost';
window.otherSite = away.href;
window.start = (options) => {
  window.tracker = postreel.createTracker({ publicKey: 'pk_test', namespace: 'app', baseUrl: '${serviceUrl}',
    email: 'ann@example.com', limit: { perSecond: 50, burst: 50 }, ...options });
  for (const name of ['delivered', 'unconfirmed', 'dropped', 'retry', 'paused', 'blocked', 'warning'])
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
  const proxied: number[] = [];
  const proxy = createTrackProxy({
    apiKey: 'sk_test',
    baseUrl: serviceUrl,
    // The machine may be busy.
    timeout: 100_000,
  });
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path.startsWith('/collect')) {
      return void answerWith(proxy, request, response).then((status) => proxied.push(status));
    }
    if (path === '/react.js') {
      reactPage ??= bundle('test/support/tracker/react-page.ts', 'reactPage');
      return void reactPage.then((text) => response.end(text));
    }
    if (path === '/extras.js') {
      extras ??= bundle('dist/esm/tracker/extras/index.js', 'extras');
      return void extras.then((text) => response.end(text));
    }
    if (path === '/recipe.js') {
      return void bundleRecipe(serviceUrl).then((text) => response.end(text));
    }
    if (path === '/consent') {
      const policy = POLICIES[path] ?? '';
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
      return response.end('<!doctype html><title>app</title><script src="/recipe.js"></script>');
    }
    if (path === '/assets/tracker.global.js') {
      return response.end(readFileSync('dist/tracker.global.js'));
    }
    if (path.startsWith('/snippet')) {
      const policy = POLICIES[path] ?? '';
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy });
      const isMissing = path === '/snippet/missing';
      const snippet = snippetFor(serviceUrl);
      return response.end(isMissing ? snippet.replace('tracker.global.js', 'gone.js') : snippet);
    }
    const isScript = path === '/tracker.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.setHeader('Content-Security-Policy', POLICIES[path] ?? '');
    if (path === '/moved') {
      // A link to another page of the site, or to another site.
      const to = decodeURIComponent(request.url?.split('?')[1] ?? '');
      return response.writeHead(302, { Location: to || '/away' }).end();
    }
    const away = '<!doctype html><title>away</title><link rel="icon" href="data:,">';
    return response.end(isScript ? script : path === '/away' ? away : page);
  });
  return { url: await listen(server), proxied, close: () => close(server) };
}

/** Answers a Node request with a handler that uses `Request` and `Response`. */
async function answerWith(
  handle: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<number> {
  const { method = '', headers, url = '' } = request;
  const init = { method, headers: Object.entries(headers) as [string, string][] };
  const body = method === 'POST' && {
    body: Readable.toWeb(request) as ReadableStream,
    duplex: 'half',
  };
  const answer = await handle(new Request(`http://${headers.host}${url}`, { ...init, ...body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
  return answer.status;
}
