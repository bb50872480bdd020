import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { command } from '../support/cli/command.js';
import { findRuntime } from '../support/runtimes/runtimes.js';

// A desktop client starts `postreel mcp` with the Node that it finds first.
it.for(['20.10.0', '18.20.8', '16.20.2'])(
  'on Node %s a command ends with one sentence that names the version it needs',
  async (version, { skip }) => {
    const found = await findRuntime({ name: 'Node', version });
    const node = 'missing' in found ? skip(found.missing) : found.command;
    for (const args of [['mcp'], ['--help']]) {
      await expect(promisify(execFile)(node, [command, ...args])).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: `postreel needs Node 20.19 or later; this is Node ${version}. Install it from https://nodejs.org, or name a newer one in the settings of your client.\n`,
      });
    }
  },
);
