// A short process: makes one write to a journal, and measures its time and memory.
import { readFileSync } from 'node:fs';
import { fileJournal } from 'postreel/node';

const [path = '', key = ''] = process.argv.slice(2);
const startedAt = performance.now();
await fileJournal(path).swap(key, undefined, '"a response"');
const firstCallMs = performance.now() - startedAt;

process.once('exit', () => {
  // All bytes that this process has written, including those of a compaction; Linux only.
  const [, written = '0'] = /^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? [];
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  console.log(JSON.stringify({ firstCallMs, peakBytes, written: Number(written) }));
});
