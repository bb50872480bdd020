// Run `npm run demo:tracker`, then open the address it prints.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { startFakeServer } from 'postreel/testing';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// The service is the package's fake, on a separate origin, like the real one.
const { messaging, messagingUrl } = await startFakeServer();

const { outputFiles } = await build({
  entryPoints: [here('../../src/tracker/index.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  globalName: 'postreelTracker',
});
const page = readFileSync(here('./index.html'), 'utf8')
  .replace('{{service}}', messagingUrl)
  .replace('{{key}}', messaging.publicKey);

/** The events that arrived at the service, and its responses; the page polls this list. */
const arrivals = () =>
  messaging.requests
    .filter(({ endpoint }) => endpoint === 'POST /v1/track')
    .map(({ at, status, body }) => ({ at, status, ...(body as { event: string }) }));

/** From now on, the service answers every event with this status. */
function answerWith(status: number): void {
  messaging.faults.clear();
  if (status === 200) {
    return;
  }
  messaging.fail('POST /v1/track', { status, times: Infinity, ...(status === 429 && wait) });
}
const wait = { retryAfter: 3 };

function serve({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(url, 'http://app');
  if (method === 'POST') {
    answerWith(Number(searchParams.get('answer')));
  }
  const [type, text] =
    pathname === '/tracker.js'
      ? ['text/javascript', outputFiles[0]?.text]
      : pathname === '/service'
        ? ['application/json', JSON.stringify(arrivals())]
        : ['text/html; charset=utf-8', page];
  response.setHeader('Content-Type', type);
  response.end(text);
}

const app = createServer(serve).listen(0, '127.0.0.1', () => {
  const { port } = app.address() as AddressInfo; // as: it listens on a port
  console.log(`The page: http://127.0.0.1:${port}\nThe service behind it: ${messagingUrl}`);
});
