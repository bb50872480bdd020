#!/usr/bin/env node
import { run } from './program.js';

// A reader that leaves early, such as `head`, ends what is shown and not what is done.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      throw error;
    }
  });
}

process.exitCode = await run(process.argv.slice(2));
