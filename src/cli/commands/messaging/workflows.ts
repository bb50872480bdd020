import type { Command } from 'commander';
import { toMermaid, type Deployment } from 'postreel';
import type { Context } from '../../context.js';
import { confirm } from '../../terminal/confirm.js';
import { examples, yesOption } from '../options.js';
import { readDefinition } from './workflows/definition-file.js';

interface DeployFlags {
  readonly enable?: boolean;
  readonly prune?: boolean;
  readonly replaces?: string;
  readonly yes?: boolean;
}

/** `postreel workflows` */
export function addWorkflows(program: Command, context: Context): void {
  const workflows = program.command('workflows').description('workflows that are written as code');
  const onFile = (name: string) =>
    workflows.command(name).argument('<file>', 'module that exports a definition, e.g. flow.js');
  onFile('draw')
    .description('print a workflow as a Mermaid flowchart')
    .addHelpText('after', examples('workflows draw flow.js > flow.mmd'))
    .action(async (file: string) => {
      context.output.raw(`${toMermaid(await readDefinition(file))}\n`);
    });
  onFile('deploy')
    .description('deploy the workflow of a file as a version of its own, beside the one that runs')
    .option('--enable', 'then switch: disable the version that runs, and enable this one')
    .option('--prune', 'delete disabled versions that are idle and were not changed by others')
    .option('--replaces <id>', 'take the place of a workflow that was not deployed from a file')
    .addOption(yesOption())
    .addHelpText(
      'after',
      examples(
        'workflows deploy flow.js',
        'workflows deploy flow.js --enable',
        'workflows deploy flow.js --enable --prune --yes',
      ),
    )
    .action((file: string, flags: DeployFlags) => deploy(file, flags, context));
}

async function deploy(file: string, flags: DeployFlags, context: Context): Promise<void> {
  const { output, signal } = context;
  const definition = await readDefinition(file);
  const { workflows } = await context.messaging();
  const { enable, prune, replaces } = flags;
  const settings = { enable, prune, replaces };
  const plan = await workflows.deploy(definition, { ...settings, dryRun: true }, { signal });
  if (plan.operations.length > 0) {
    const action = `Deploy the workflow "${definition.name}"`;
    await confirm({ action, facts: factsOf(plan) }, flags, context);
  }
  const done = await workflows.deploy(definition, settings, { signal });
  for (const note of output.isJson ? [] : done.notes) {
    output.note(note);
  }
  const { name, workflowId, kept } = done;
  const word = done.operations.length > 0 ? 'deployed' : 'unchanged:';
  output.result(done, () =>
    [
      `${output.paint('green', word)} ${name}, workflow ${workflowId}`,
      ...kept.map((one) => `kept ${one.name}: ${one.reason}`),
    ].join('\n'),
  );
}

/** What a deployment does, to be confirmed. */
function factsOf({ operations, replaced, kept, notes }: Deployment): Record<string, string> {
  const steps = operations.map((operation, at) => [
    `${at + 1}`,
    Object.values(operation)
      .filter((part) => part !== undefined)
      .join(' '),
  ]);
  const running = replaced.map(({ workflowId, name, activeExecutions = 0 }) => [
    `disables ${workflowId}`,
    `${name}, ${activeExecutions} running executions`,
  ]);
  const kepts = kept.map(({ workflowId, reason }) => [`keeps ${workflowId}`, reason]);
  const more = notes.map((note, at) => [`note ${at + 1}`, note]);
  return Object.fromEntries([...steps, ...running, ...kepts, ...more]) as Record<string, string>; // entries lose their types
}
