// Saves a file in a separate process, and prints how much memory that took. Run by a test.
import { MediaFile } from 'postreel/media';
import { saveTo } from 'postreel/node';

const [, , url, path] = process.argv;
const file = new MediaFile('file_000001', url, {});

// The first request loads the modules, which must not count.
await file.response({ range: 'bytes=0-9' }).then((response) => response.arrayBuffer());
const before = process.memoryUsage.rss();
let most = before;
await saveTo(file, path, {
  onProgress: () => {
    most = Math.max(most, process.memoryUsage.rss());
  },
});
console.log(JSON.stringify({ grownBytes: most - before }));
