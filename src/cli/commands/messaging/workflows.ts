import type { Command } from 'commander';
import { toMermaid, simulate, type SimulatedContact } from 'postreel';
import type { Context } from '../../context.js';
import { CommandEnd } from '../../exit-codes.js';
import { confirm } from '../../terminal/confirm.js';
import { tableOf } from '../../terminal/table.js';
import { collect, collectData, examples, wholeNumber, yesOption } from '../options.js';
import { readDefinition } from './workflows/definition-file.js';
import { fileWorkflowState } from 'postreel/node';

interface SimulateFlags {
  readonly email?: readonly string[];
  readonly data?: Record<string, unknown>;
  readonly days: number;
}

interface DeployFlags {
  readonly state: string;
  readonly overwrite?: boolean;
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
  onFile('simulate')
    .description('say who would get which email when, without a request')
    .option('--email <email>', 'contact; may be given several times', collect)
    .option('--data <name=value>', 'data of the contacts; may be given several times', collectData)
    .option('--days <count>', 'how many days to look ahead', wholeNumber(1), 30)
    .addHelpText('after', examples('workflows simulate flow.js --data plan=free --days 14'))
    .action((file: string, flags: SimulateFlags) => runSimulation(file, flags, context));
  onFile('deploy')
    .description('bring the live workflow to what the file says')
    .option('--state <path>', 'remembers what was deployed', 'postreel-workflows.json')
    .option(
      '--overwrite',
      'also undo what others have changed or added in the live workflow; without it that is refused',
    )
    .addOption(yesOption())
    .addHelpText(
      'after',
      examples(
        'workflows deploy flow.js',
        'workflows deploy flow.js --yes',
        'workflows deploy flow.js --overwrite',
      ),
    )
    .action((file: string, flags: DeployFlags) => deploy(file, flags, context));
}

async function runSimulation(file: string, flags: SimulateFlags, context: Context): Promise<void> {
  const { email = ['ann@example.com'], data = {}, days } = flags;
  const contacts = email.map((one): SimulatedContact => ({ email: one, data }));
  const simulation = simulate(await readDefinition(file), contacts, { days });
  const { output } = context;
  const columns = [
    {
      heading: 'When',
      text: ({ at }: (typeof simulation.emails)[number]) =>
        at.toISOString().slice(0, 16).replace('T', ' '),
    },
    { heading: 'To', text: (one: (typeof simulation.emails)[number]) => one.email },
    { heading: 'Step', text: ({ step }: (typeof simulation.emails)[number]) => step },
  ];
  output.result(simulation, () =>
    simulation.emails.length > 0 ? tableOf(simulation.emails, columns, output) : 'No emails.',
  );
  for (const assumption of output.isJson ? [] : simulation.assumptions) {
    output.note(output.paintNote('dim', `assumed: ${assumption}`));
  }
}

async function deploy(file: string, flags: DeployFlags, context: Context): Promise<void> {
  const { output, signal } = context;
  const definition = await readDefinition(file);
  const { workflows } = await context.messaging();
  const state = fileWorkflowState(flags.state);
  const { overwrite = false } = flags;
  const plan = await workflows.deploy(definition, { state, dryRun: true }, { signal });
  const theirs = plan.drift.filter(({ by }) => by !== 'ours');
  for (const { by, part, key, change, fields } of plan.drift) {
    output.note(`${by}: ${part} ${key} ${change} ${fields.join(', ')}`.trim());
  }
  if (theirs.length > 0 && !overwrite) {
    throw new CommandEnd(
      'different',
      'Others have changed the live workflow. Take that into the file, or add --overwrite.',
    );
  }
  if (plan.operations.length === 0) {
    // It may be a workflow that is not in this state yet.
    output.result(await workflows.deploy(definition, { state }, { signal }), () => {
      return 'Nothing has changed.';
    });
    return;
  }
  const steps = plan.operations.map((operation, at) => [
    `${at + 1}`,
    Object.values(operation).join(' '),
  ]);
  const action = `Deploy the workflow "${definition.name}"`;
  await confirm(
    { action, facts: Object.fromEntries(steps) as Record<string, string> },
    flags,
    context,
  );
  const done = await workflows.deploy(definition, { state, overwrite }, { signal });
  const count = done.operations.length;
  output.result(done, () => `${output.paint('green', 'deployed')} in ${count} operations`);
}
