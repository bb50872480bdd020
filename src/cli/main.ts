import { Console } from 'node:console';
import { run } from './program.js';

// A reader that leaves early, such as `head`, ends what is shown and not what is done.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
}

// Stdout is for results: what a library or `POSTREEL_LOG` prints to the console goes beside them.
globalThis.console = new Console(process.stderr, process.stderr);

process.exitCode = await run(process.argv.slice(2));
