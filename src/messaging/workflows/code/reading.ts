import { sleep } from '../../../core/async.js';
import { ConflictError } from '../../../core/errors.js';
import { compare, partName, type Comparison, type WorkflowDrift } from './compare.js';
import { resolveCreation, unclear, type CreationParts } from './creation.js';
import type { WorkflowDefinition } from './definition.js';
import { notUnderstood, readGraph, withId, type LiveGraph } from './live.js';
import { emptyState } from './state.js';

/** A live workflow, and what a deployment finds when it holds it against its state and definition. */
export interface Reading extends Comparison {
  /** The ids of everything that exists: what is new was created later. */
  readonly known: Readonly<Record<'workflow' | 'step' | 'transition', readonly string[]>>;
  /** Whether the state store has a record of the workflow. */
  readonly isRecorded: boolean;
}

/** Reads what is live. The graph comes last, so that it is as fresh as can be. */
export async function readLive(
  definition: WorkflowDefinition,
  parts: CreationParts,
): Promise<Reading> {
  const { keeper } = parts;
  if (keeper.state.pending) {
    await resolveCreation(keeper.state.pending, parts);
  }
  const { workflow } = keeper.state;
  return workflow === undefined
    ? findEqual(definition, parts)
    : readRecorded(definition, workflow.id, parts);
}

/** Throws where a deployment would overwrite what others have changed, or may have. */
export function checkDrift(
  { name, trigger }: WorkflowDefinition,
  { drift, hidden, state, isRecorded }: Reading,
): void {
  const theirs = drift.filter(({ by }) => by !== 'ours');
  if (theirs.length > 0) {
    const found = isRecorded
      ? `Workflow "${name}" was changed by others since its last deployment`
      : `Workflow ${state.workflow?.id} is called "${name}" and starts with "${trigger.event}" too, but differs from the definition`;
    throw new ConflictError(
      `${found}: ${listed(theirs.map(driftText))}. Take that into the definition, or replace it with \`{ overwrite: true }\`.`,
      { code: 'WORKFLOW_CHANGED', outcome: 'not-sent', details: theirs },
    );
  }
  if (hidden.length > 0) {
    throw notUnderstood(listed(hidden), ', or deploy with `{ overwrite: true }`');
  }
}

/** The first few, for an error. */
export function listed(texts: readonly string[]): string {
  const more = texts.length > maxListed ? [`${texts.length - maxListed} more`] : [];
  return [...texts.slice(0, maxListed), ...more].join(', ');
}

const maxListed = 5;

function driftText({ part, key, change, fields }: WorkflowDrift): string {
  const what = fields.length > 0 ? ` (${listed(fields)})` : '';
  return `${partName(part, key)} was ${change}${what}`;
}

// One 404 is no fact: a second workflow beside the first would send each email twice.
const readAgainMs = 1_000;

async function readRecorded(
  definition: WorkflowDefinition,
  id: string,
  parts: CreationParts,
): Promise<Reading> {
  const { state } = parts.keeper;
  const read = () => readGraph(parts, id, parts.options);
  const live = (await read()) ?? (await sleep(readAgainMs, parts.options.signal).then(read));
  if (live) {
    return readingOf(live, compare(definition, state, live, parts.mapping), []);
  }
  const workflow = await allIds(parts);
  if (workflow.includes(id)) {
    throw listedButGone(definition.name, id);
  }
  // A deployment that died while it took back what it had created deleted it itself.
  const isOurs = state.unsure?.[id]?.includes(null) === true;
  const deleted = {
    by: 'theirs',
    change: 'deleted',
    part: 'workflow',
    key: id,
    fields: [],
  } as const;
  const known = { workflow, step: [], transition: [] };
  return { ...nothing, drift: isOurs ? [] : [deleted], known, isRecorded: true };
}

/**
 * Finds a live workflow of the same name and event, where the state store has none. An equal one
 * is this workflow; any other is a stranger's unless `overwrite` is set.
 */
async function findEqual(definition: WorkflowDefinition, parts: CreationParts): Promise<Reading> {
  const { mapping, workflows, options } = parts;
  const { name, trigger } = definition;
  const ids: string[] = [];
  const found: Reading[] = [];
  const isNamesake = (head: ReturnType<typeof mapping.readWorkflow>) =>
    head.name === name && (head.trigger ?? trigger).event === trigger.event;
  let isNamed = false;
  for await (const listed of workflows.list({}, options)) {
    const head = mapping.readWorkflow(listed);
    const id = withId(listed)?.id ?? '';
    isNamed = isNamed || head.name !== undefined;
    ids.push(id);
    if (!isNamesake(head)) {
      continue;
    }
    const live = await readGraph(parts, id, options);
    if (!live) {
      throw listedButGone(name, id); // a second one beside it would send each email twice
    }
    const shown = mapping.readWorkflow(live);
    // What this answer leaves out, the list has shown.
    if (isNamesake({ name: shown.name ?? head.name, trigger: shown.trigger ?? head.trigger })) {
      const comparison = compare(definition, emptyState, live, mapping);
      found.push({
        ...readingOf(live, comparison, []),
        drift: comparison.drift.map(asTheirs),
        isRecorded: false,
      });
    }
  }
  const known = { workflow: ids, step: [], transition: [] };
  if (ids.length > 0 && !isNamed) {
    const hidden = ['`name` of the workflows in the list'];
    return { ...nothing, hidden, known };
  }
  const equal = found.filter(({ drift, hidden }) => drift.length + hidden.length === 0);
  const candidates = equal.length > 0 ? equal : found;
  if (candidates.length > 1) {
    const records = candidates.map(({ state }) => ({ id: state.workflow?.id ?? '' }));
    throw unclear(`which workflow "${name}" is to be deployed`, records);
  }
  return candidates[0] ?? { ...nothing, known };
}

const nothing = {
  drift: [],
  hidden: [],
  state: emptyState,
  isEnabled: false,
  isRecorded: false,
} as const;

// Without a record of a deployment every difference was made by others.
function asTheirs(drift: WorkflowDrift): WorkflowDrift {
  return { ...drift, by: 'theirs', change: drift.by === 'ours' ? 'deleted' : drift.change };
}

function readingOf(live: LiveGraph, comparison: Comparison, workflow: readonly string[]): Reading {
  const step = live.steps.map(({ id }) => id);
  const transition = live.transitions.map(({ id }) => id);
  return { ...comparison, known: { workflow, step, transition }, isRecorded: true };
}

function listedButGone(name: string, id: string): ConflictError {
  return new ConflictError(
    `Workflow "${name}" is listed as ${id}, but cannot be read. Nothing was deployed; deploy it again. If it stays so, give the workflow another name.`,
    { code: 'WORKFLOW_CHANGED', outcome: 'not-sent' },
  );
}

async function allIds({ workflows, options }: CreationParts): Promise<string[]> {
  const ids: string[] = [];
  for await (const workflow of workflows.list({}, options)) {
    ids.push(withId(workflow)?.id ?? '');
  }
  return ids;
}
