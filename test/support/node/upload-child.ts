// Uploads many files of 5 MB at once to a service that reads none of them for a while. Prints the memory of
// each upload in addition to the caller's bytes.
import { MessagingClient } from 'postreel';

const [, , files = '20'] = process.argv;
const count = Number(files);
const size = 5_000_000;
const messaging = new MessagingClient({ rateLimit: false });

const rowOf = (row: number) => `person-${String(row).padStart(12, '0')}@example.com\n`;
const fileOf = (bytes: number) => {
  const rows = Math.ceil(bytes / rowOf(0).length);
  return new TextEncoder().encode(
    `email\n${Array.from({ length: rows }, (_, row) => rowOf(row)).join('')}`,
  );
};

const bytes = fileOf(size);
await messaging.contacts.import(fileOf(1_000)); // loads what a call needs
globalThis.gc?.();
const before = process.memoryUsage.rss();
let most = before;
const watch = setInterval(() => {
  globalThis.gc?.(); // sent chunks are garbage, not copies
  most = Math.max(most, process.memoryUsage.rss());
}, 25);
await Promise.all(Array.from({ length: count }, () => messaging.contacts.import(bytes)));
clearInterval(watch);
console.log(JSON.stringify({ copies: (most - before) / (count * bytes.length) }));
