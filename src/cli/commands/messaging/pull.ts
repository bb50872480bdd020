import { readFile, writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { pullTypes } from '../../pull/pull.js';
import { driftOf } from '../../pull/types-file.js';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { examples } from '../options.js';

/** `postreel pull` */
export function addPull(program: Command, context: Context): void {
  program
    .command('pull')
    .description("write the types of the project's custom fields, events and templates")
    .argument('[file]', 'where to write them', 'postreel.types.ts')
    .option('--check', 'write nothing, and fail when the file differs from the project')
    .addHelpText('after', examples('pull', 'pull src/postreel.types.ts --check'))
    .action((file: string, { check }: { check?: boolean }) =>
      check ? checkTypes(file, context) : writeTypes(file, context),
    );
}

async function writeTypes(file: string, context: Context): Promise<void> {
  const text = await typesOf(context);
  await writeFile(file, text);
  context.output.result({ file }, () => `Wrote ${file}.`);
}

async function checkTypes(file: string, context: Context): Promise<void> {
  const drift = driftOf(await readFile(file, 'utf8'), await typesOf(context));
  context.output.result({ file, drift }, () =>
    drift.length === 0 ? `${file} is as the project.` : drift.join('\n'),
  );
  if (drift.length > 0) {
    throw new CommandEnd('different', `${file} has drifted. Run \`postreel pull ${file}\`.`);
  }
}

async function typesOf(context: Context): Promise<string> {
  return pullTypes(await context.messaging(), { signal: context.signal });
}
