import {
  listTransitions,
  stepsOf,
  type StepDefinition,
  type WorkflowDefinition,
} from './definition.js';

/** The state of an execution to show in the graph. */
export interface MermaidOptions {
  /** The step where an execution is now. */
  readonly current?: string | undefined;
  /** The steps that an execution has completed. */
  readonly visited?: readonly string[] | undefined;
}

/** Draws a workflow as a Mermaid flowchart, with the state of an execution if you give one. */
export function toMermaid(
  definition: WorkflowDefinition,
  { current, visited = [] }: MermaidOptions = {},
): string {
  const steps = stepsOf(definition);
  // Keys may contain characters that Mermaid does not accept in an id.
  const ids = new Map(steps.map(([key], index) => [key, `s${index}`]));
  const id = (key: string | undefined) => ids.get(key ?? '') ?? 'none';
  const marked = (keys: readonly string[]) => keys.filter((key) => ids.has(key)).map(id);
  return [
    'flowchart TD',
    `  start(["${escaped(definition.trigger.event)}"]) --> ${id(steps[0]?.[0])}`,
    ...steps.map(([key, step]) => `  ${id(key)}${shape(key, step)}`),
    ...listTransitions(definition).map(
      ({ from, to, branch }) => `  ${id(from)} -->${branch ? `|${branch}|` : ''} ${id(to)}`,
    ),
    ...classLine('visited', marked(visited), 'fill:#e8f5e9,stroke:#43a047'),
    ...classLine(
      'current',
      marked(current === undefined ? [] : [current]),
      'fill:#fff3e0,stroke:#fb8c00,stroke-width:3px',
    ),
    '',
  ].join('\n');
}

function shape(key: string, step: StepDefinition): string {
  const text = `"${escaped(`${step.name ?? key}: ${summary(step)}`)}"`;
  switch (step.type) {
    case 'CONDITION':
      return `{${text}}`;
    case 'EXIT':
      return `(["${escaped(step.name ?? key)}"])`;
    case 'DELAY':
    case 'WAIT_FOR_EVENT':
      return `[/${text}/]`;
    default:
      return `[${text}]`;
  }
}

function summary(step: StepDefinition): string {
  switch (step.type) {
    case 'SEND_EMAIL':
      return `send ${step.template ?? step.subject ?? 'an email'}`;
    case 'DELAY':
      return `wait ${step.amount} ${step.unit}`;
    case 'WAIT_FOR_EVENT': {
      const { event, timeout } = step;
      return `wait for ${event}${timeout ? `, at most ${timeout.amount} ${timeout.unit}` : ''}`;
    }
    case 'CONDITION': {
      const { field, operator, value, unit = '' } = step.if as Record<string, unknown>; // for display only
      return field === undefined
        ? 'condition'
        : [field, operator, value, unit].map(String).join(' ').trim();
    }
    case 'WEBHOOK':
      return `call ${step.url}`;
    case 'UPDATE_CONTACT':
      return `set ${Object.keys(step.data).join(', ')}`;
    case 'EXIT':
      return 'end';
  }
}

function classLine(name: string, ids: readonly string[], style: string): string[] {
  return ids.length === 0
    ? []
    : [`  classDef ${name} ${style}`, `  class ${ids.join(',')} ${name}`];
}

function escaped(text: string): string {
  return text.replace(/[&<>"#;\n\r]/g, (character) => `#${character.charCodeAt(0)};`);
}
