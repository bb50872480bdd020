import { toMermaid, type Deployment } from 'postreel';
import { createCommand, createOption } from '../command.js';
import { readDefinition } from './definition-file.js';

interface DeployInput {
  readonly file: string;
  readonly enable?: boolean;
  readonly prune?: boolean;
  readonly replaces?: string;
}

const file = ['<file>', 'module that exports a definition, e.g. flow.js; it is run'] as const;

/** `postreel workflows draw` and `deploy` */
export const workflows = [
  createCommand<{ readonly file: string }>({
    name: 'workflows draw',
    about: 'print a workflow as a Mermaid flowchart',
    args: [file],
    examples: ['workflows draw flow.js > flow.mmd'],
    run: async (input, { output, environment }) => {
      output.raw(`${toMermaid(await readDefinition(input.file, environment))}\n`);
    },
  }),
  createCommand<DeployInput>({
    name: 'workflows deploy',
    about: 'deploy the workflow of a file as a separate version, next to the running one',
    args: [file],
    options: [
      createOption('--enable', 'then switch: disable the version that runs, and enable this one'),
      createOption(
        '--prune',
        'delete disabled versions that are idle and were not changed by others',
      ),
      createOption(
        '--replaces <id>',
        'take the place of a workflow that was not deployed from a file',
      ),
    ],
    examples: [
      'workflows deploy flow.js',
      'workflows deploy flow.js --enable',
      'workflows deploy flow.js --enable --prune --yes',
    ],
    plan: async ({ file: path, enable, prune, replaces }, context) => {
      const { output, signal } = context;
      const definition = await readDefinition(path, context.environment);
      const client = (await context.messaging()).workflows;
      const settings = { enable, prune, replaces };
      const plan = await client.deploy(definition, { ...settings, dryRun: true }, { signal });
      return {
        action: `Deploy the workflow "${definition.name}"`,
        facts: describeDeployment(plan),
        changesNothing: plan.operations.length === 0,
        run: async () => {
          const done = await client.deploy(definition, settings, { signal });
          for (const note of output.isJson ? [] : done.notes) {
            output.note(note);
          }
          const { name, workflowId, kept, operations } = done;
          const word = operations.length > 0 ? 'deployed' : 'unchanged:';
          output.result(done, () =>
            [
              `${output.paint('green', word)} ${name}, workflow ${workflowId}`,
              ...kept.map((one) => `kept ${one.name}: ${one.reason}`),
            ].join('\n'),
          );
        },
      };
    },
  }),
];

/** The effects of a deployment, for the person to confirm. */
function describeDeployment({
  operations,
  replaced,
  kept,
  notes,
}: Deployment): Record<string, string> {
  const steps = operations.map((operation, at): [string, string] => [
    `${at + 1}`,
    Object.values(operation)
      .filter((part) => part !== undefined)
      .join(' '),
  ]);
  const running = replaced.map(({ workflowId, name, activeExecutions = 0 }): [string, string] => [
    `disables ${workflowId}`,
    `${name}, ${activeExecutions} running executions`,
  ]);
  const kepts = kept.map(({ workflowId, reason }): [string, string] => [
    `keeps ${workflowId}`,
    reason,
  ]);
  const more = notes.map((note, at): [string, string] => [`note ${at + 1}`, note]);
  return Object.fromEntries([...steps, ...running, ...kepts, ...more]);
}
