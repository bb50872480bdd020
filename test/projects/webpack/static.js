import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const script = readFileSync('dist/page.js', 'utf8');
createServer((request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>webpack</title><body></body><script>${script}</script>`);
}).listen(Number(process.env.PORT), '127.0.0.1');
