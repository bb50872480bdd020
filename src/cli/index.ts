#!/usr/bin/env node
import { Console } from 'node:console';
import { run } from './program.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`postreel needs Node 20.19 or later; this is Node ${process.versions.node}.`);
  process.exit(1);
}

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
