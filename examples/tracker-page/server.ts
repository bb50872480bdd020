// One command: `npx tsx examples/tracker-page/server.ts`, then open the address it prints.
import { readFileSync } from 'node:fs';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What the stand-in for the service answers next; the page changes it with `POST /mode`. */
let mode = '200';
/** What the service took, as the page shows it. */
const taken: unknown[] = [];

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': 'authorization, content-type',
  'Access-Control-Max-Age': '600',
};

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

async function service(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method === 'OPTIONS') return void response.writeHead(204, CORS).end();
  const text = await read(request);
  if (request.url === '/mode') mode = text;
  else if (request.url === '/v1/track' && mode === '200') taken.push(JSON.parse(text));
  const isTrack = request.url === '/v1/track';
  response.writeHead(isTrack ? Number(mode) : 200, { ...CORS, 'Content-Type': 'application/json' });
  response.end(JSON.stringify(request.url === '/taken' ? taken : { success: mode === '200' }));
}

async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // Listening on a port, so the address is not a pipe's.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const { outputFiles } = await build({
  entryPoints: [here('../../src/tracker/index.ts')],
  bundle: true,
  minify: true,
  write: false,
  format: 'iife',
  globalName: 'postreelTracker',
});
const serviceUrl = await listen((request, response) => void service(request, response));
const page = readFileSync(here('./index.html'), 'utf8').replaceAll('{{service}}', serviceUrl);

const appUrl = await listen((request, response) => {
  const isScript = request.url === '/tracker.js';
  response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
  response.end(isScript ? outputFiles[0]?.text : page);
});
console.log(`The page: ${appUrl}\nThe service behind it: ${serviceUrl}`);
