import { Console } from 'node:console';
import { run } from './program.js';

// If the reader of a stream leaves early, such as `head`, stop writing but finish the work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
}

// Stdout is for results: send the console output of libraries and of `POSTREEL_LOG` to stderr.
globalThis.console = new Console(process.stderr, process.stderr);

process.exitCode = await run(process.argv.slice(2));
