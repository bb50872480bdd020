import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

// What webpack loads later lies beside the script.
createServer((request, response) => {
  const isScript = request.url.endsWith('.js');
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  const page = '<!doctype html><title>webpack</title><body></body><script src="/page.js"></script>';
  response.end(isScript ? readFileSync(`dist/${basename(request.url)}`) : page);
}).listen(Number(process.env.PORT), '127.0.0.1');
