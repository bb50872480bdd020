// Imports one client in a new process, makes its first call, and prints the CPU time of both.
import { clients } from '../calls/clients.mjs';

const [, , name, url] = process.argv;
const entryPoints = { postreel: '../../dist/esm/index.js' };
const before = process.cpuUsage();
await import(entryPoints[name] ?? name);
const importMs = since(before);
const client = await clients[name](url);
await client.record();
console.log(JSON.stringify({ importMs, firstCallMs: since(before) }));
process.exit();

function since(start) {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1_000;
}
