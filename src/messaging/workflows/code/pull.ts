import { isRecord, type OpenInput } from '../../../core/values.js';
import type { WorkflowGraph, WorkflowTransition } from '../types.js';
import { shown } from './compare.js';
import { fieldOf, isSame, jsonOf, type Fields } from './content.js';
import type { StepDefinition, WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf } from './graph.js';
import { graphOf, notUnderstood, type LiveGraph } from './live.js';
import { defaultWorkflowMapping, type TransitionEnds, type WorkflowMapping } from './mapping.js';
import { headBody, stepBody, transitionBody } from './plan.js';
import type { DeployedPart, WorkflowState } from './state.js';

/** A live workflow as code, with the state that its next deployment starts from. */
export interface PulledWorkflow {
  readonly definition: WorkflowDefinition;
  readonly state: WorkflowState;
}

/**
 * Turns a live workflow into a definition; its steps are named by their names, else their ids. What
 * the mapping does not know stays where it stood, in `config` or in `fields`.
 */
export function definitionOf(
  live: WorkflowGraph,
  own: Partial<WorkflowMapping> = {},
): PulledWorkflow {
  const mapping = { ...defaultWorkflowMapping, ...own };
  const graph = graphOf(live, mapping);
  const keys = keysOf(graph);
  const ways = graph.transitions.map((transition) => wayOf(transition, keys, mapping));
  const steps = graph.steps.map((step) => {
    const key = keys.get(step.id) ?? '';
    const content = readable(mapping.readStep(step), `step ${step.id}`);
    const out = ways.filter(({ ends }) => ends.fromStepId === step.id);
    // Which ways a step has depends on its type; what is missing is reported when it is deployed.
    const whole = { ...content, ...waysOut(step.id, out) } as StepDefinition;
    return [key, completed(key, whole, step, mapping)] as const;
  });
  const head = mapping.readWorkflow(graph);
  const known = {
    key: graph.id,
    name: readable(head.name, `name of workflow ${graph.id}`),
    trigger: readable(head.trigger, `event of workflow ${graph.id}`),
    start: startOf(graph, ways, keys),
    allowReentry: head.allowReentry,
    enabled: readable(head.enabled, `field \`enabled\` of workflow ${graph.id}`),
    steps: Object.fromEntries(steps),
  };
  // These have a place of their own in a definition, or in the live graph.
  const placed = ['enabled', ...graphNames(live, mapping)];
  const rest = Object.entries(graph).filter(([name]) => !placed.includes(name));
  const fields = restOf(Object.fromEntries(rest), headBody(known, mapping), mapping);
  const definition = { ...known, ...fields };
  return { definition, state: stateOf(graph, definition, { keys, ways, mapping }) };
}

interface Way {
  readonly ends: TransitionEnds;
  readonly to: string;
  readonly record: WorkflowTransition;
  readonly fields: OpenInput | undefined;
}

/** Under which names the answer has its steps and transitions. */
function graphNames(live: WorkflowGraph, mapping: WorkflowMapping): string[] {
  const lists: unknown[] = Object.values(mapping.readGraph(live) ?? {});
  const names = Object.entries(live).filter(([, value]) => lists.includes(value));
  return ['steps', 'transitions', ...names.map(([name]) => name)];
}

function wayOf(
  record: WorkflowTransition,
  keys: ReadonlyMap<string, string>,
  mapping: WorkflowMapping,
): Way {
  const what = `transition ${record.id}`;
  const ends = readable(mapping.readTransition(record), what);
  readable(keys.get(ends.fromStepId), what);
  const to = readable(keys.get(ends.toStepId), what);
  const { fields } = restOf(record, mapping.transition(ends), mapping);
  return { ends, to, record, fields };
}

/** The ways out of a step, with their unknown fields. Two ways of one branch are no definition. */
function waysOut(id: string, ways: readonly Way[]): object {
  const names = ways.map(({ ends }) => ends.branch ?? 'next');
  if (new Set(names).size < names.length) {
    throw notUnderstood(`several transitions out of step ${id}`);
  }
  const targets = ways.map(({ to }, index) => [names[index], to]);
  const own = ways.flatMap(({ fields }, index) => (fields ? [[names[index], fields]] : []));
  const transitions = own.length > 0 ? [['transitions', Object.fromEntries(own)]] : [];
  return Object.fromEntries([...targets, ...transitions]) as object; // entries lose their types
}

/** The step with all that the mapping does not know, inside `config` where it stood there. */
function completed(
  key: string,
  step: StepDefinition,
  record: Fields,
  mapping: WorkflowMapping,
): StepDefinition {
  const written = mapping.step(key, step).config;
  const { config } = record;
  const isInside = isRecord(written) && isRecord(config);
  const inside = isInside ? differing(config, written) : {};
  const whole = Object.keys(inside).length > 0 ? { ...step, config: inside } : step;
  return { ...whole, ...restOf(record, mapping.step(key, whole), mapping) };
}

/** The fields of a record that the mapping would not write, or would write otherwise. */
function restOf(
  record: Fields,
  written: Fields,
  { answerOnly }: WorkflowMapping,
): { fields?: OpenInput } {
  const own = Object.entries(record).filter(([name]) => !answerOnly.includes(name));
  const fields = differing(Object.fromEntries(own), written);
  return Object.keys(fields).length > 0 ? { fields } : {};
}

/** What has to be laid over the written fields to get those that are live. */
function differing(live: Fields, written: Fields): OpenInput {
  const names = [...new Set([...Object.keys(live), ...Object.keys(written)])];
  const different = names.filter((name) => !isSame(fieldOf(live, name), fieldOf(written, name)));
  return Object.fromEntries(different.map((name) => [name, fieldOf(live, name)]));
}

function keysOf({ steps }: LiveGraph): Map<string, string> {
  const names = steps.map(({ id, name }) => (typeof name === 'string' && name !== '' ? name : id));
  const isUnique = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return new Map(
    steps.map(({ id }, index) => {
      const name = names[index] ?? '';
      return [id, isUnique(name) ? name : `${name} ${id}`];
    }),
  );
}

function startOf(
  { steps }: LiveGraph,
  ways: readonly Way[],
  keys: ReadonlyMap<string, string>,
): string | undefined {
  const targets = new Set(ways.map(({ ends }) => ends.toStepId));
  const start = steps.find(({ id }) => !targets.has(id)) ?? steps[0];
  return start && keys.get(start.id);
}

function stateOf(
  graph: LiveGraph,
  definition: WorkflowDefinition,
  {
    keys,
    ways,
    mapping,
  }: {
    readonly keys: ReadonlyMap<string, string>;
    readonly ways: readonly Way[];
    readonly mapping: WorkflowMapping;
  },
): WorkflowState {
  const part = (record: { id: string }, body: object): DeployedPart => ({
    id: record.id,
    body: jsonOf(body),
    live: shown(record, body),
  });
  const steps = Object.fromEntries(
    graph.steps.map((step) => {
      const key = keys.get(step.id) ?? '';
      return [key, part(step, stepBody(definition, key, mapping))];
    }),
  );
  const state: WorkflowState = {
    version: 1,
    workflow: part(graph, headBody(definition, mapping)),
    steps,
    transitions: {},
    enabled: definition.enabled,
  };
  const edges = new Map(edgesOf(definition).map((edge) => [edgeName(edge), edge]));
  const transitions = ways.map(({ record, ends, to }) => {
    const from = keys.get(ends.fromStepId) ?? '';
    const name = edgeName({ from, to, branch: ends.branch });
    const edge = edges.get(name);
    const body = edge && transitionBody(definition, edge, state, mapping);
    // A way that its step's type does not have: a third branch, or one out of an EXIT.
    return [name, part(record, readable(body, `transition ${record.id}`))] as const;
  });
  return { ...state, transitions: Object.fromEntries(transitions) };
}

function readable<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) {
    throw notUnderstood(what);
  }
  return value;
}
