import { readFile, writeFile } from 'node:fs/promises';
import { createCommand, createOption } from '../command.js';
import { CommandEnd } from '../exit-codes.js';
import { pullTypes } from './pull-types.js';
import { driftOf } from './types-file.js';

/** `postreel pull` */
export const pull = createCommand<{ readonly file: string; readonly check?: boolean }>({
  name: 'pull',
  about: "write the types of the project's custom fields, events and templates",
  args: [['[file]', 'where to write them', 'postreel.types.ts']],
  options: [
    createOption('--check', 'write nothing, and fail when the file differs from the project'),
  ],
  examples: ['pull', 'pull src/postreel.types.ts --check'],
  run: async ({ file, check = false }, context) => {
    const { output, signal } = context;
    const types = async () => pullTypes(await context.messaging(), { signal });
    if (!check) {
      await writeFile(file, await types());
      output.result({ file }, () => `Wrote ${file}.`);
      return;
    }
    const drift = driftOf(await readFile(file, 'utf8'), await types());
    output.result({ file, drift }, () =>
      drift.length === 0 ? `${file} is up to date.` : drift.join('\n'),
    );
    if (drift.length > 0) {
      throw new CommandEnd('different', `${file} has drifted. Run \`postreel pull ${file}\`.`);
    }
  },
});
