import { isRecord } from '../../core/values.js';
import { fingerprint } from '../../core/fingerprint.js';
import { normalizeEmail } from '../shared/values.js';
import {
  listTransitions,
  nameOfStep,
  stepsOf,
  type DefinedTransition,
  type StepDefinition,
  type WorkflowDefinition,
} from './definition.js';
import type {
  StepConfig,
  StepCreate,
  TransitionCreate,
  WorkflowCreate,
  WorkflowGraph,
  WorkflowStep,
} from '../workflows.types.js';

/**
 * The content of a workflow: its trigger, steps and transitions, by the names of its steps, without ids. A
 * definition and the live workflow that was created from it have the same content.
 */
export interface WorkflowContent {
  readonly event: string | undefined;
  readonly allowReentry: boolean;
  readonly fields: WorkflowFieldValues;
  /** The name of the first step. */
  readonly start: string | undefined;
  readonly steps: Readonly<Record<string, StepContent>>;
  /** Each transition as JSON. The texts are sorted. */
  readonly transitions: readonly string[];
}

interface StepContent {
  readonly type: string | undefined;
  readonly config: WorkflowFieldValues;
  readonly fields: WorkflowFieldValues;
}

type WorkflowFieldValues = Readonly<Record<string, unknown>>;

/** Returns the content of a definition. */
export function contentOf(definition: WorkflowDefinition): WorkflowContent {
  const { trigger, allowReentry = false, fields = {} } = definition;
  const nameOf = (key: string) => nameOfStep(definition, key);
  const [start] = stepsOf(definition).map(([key]) => nameOf(key));
  const parts = stepsOf(definition).map(([key]) => {
    const { type, config = {}, ...rest } = stepBody(definition, key);
    return [nameOf(key), { type, config, fields: omitFields(rest, stepOnly) }];
  });
  const transitions = listTransitions(definition).map(({ from, to, branch, fields: own = {} }) =>
    serializeTransition(nameOf(from), nameOf(to), branch, omitFields(own, transitionOnly)),
  );
  const content = { event: trigger.event, allowReentry, fields, start };
  // Through JSON, to get the form that is sent: a `Date` becomes a string.
  const all = {
    ...content,
    steps: Object.fromEntries(parts) as object,
    transitions: transitions.sort(),
  };
  return JSON.parse(jsonOf(all)) as WorkflowContent; // JSON keeps the structure
}

/**
 * Returns the content of a live workflow, without the fields that only responses have. Of the fields of the workflow
 * itself, only those are compared that the definition sets.
 */
export function liveContentOf(
  live: LiveGraph,
  { fields = {} }: WorkflowDefinition,
): WorkflowContent {
  const { workflow, steps, transitions } = live;
  const names = new Map(steps.map((step) => [step.id, nameIn(step)]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const parts = steps.map(({ id, type, config, ...rest }) => {
    const own = {
      type,
      config: isRecord(config) ? config : {},
      fields: omitFields(rest, stepOnly),
    };
    return [nameOf(id), own] as const;
  });
  const texts = transitions.map(({ from, to, branch, fields: own }) =>
    serializeTransition(nameOf(from), nameOf(to), branch, own),
  );
  const shown = Object.keys(fields).filter((name) => Object.hasOwn(workflow, name));
  return {
    event: eventOf(workflow),
    allowReentry: workflow.allowReentry === true,
    fields: Object.fromEntries(shown.map((name) => [name, workflow[name]])),
    start: live.start === undefined ? undefined : nameOf(live.start),
    steps: Object.fromEntries(parts),
    transitions: texts.sort(),
  };
}

/** Returns the mark of a content: six hexadecimal digits of its fingerprint, for the name of the workflow. */
export function markOf({ transitions, ...content }: WorkflowContent): string {
  // The marks of deployed workflows were made with the key `ways`.
  return fingerprint(jsonOf({ ...content, ways: transitions })).slice(0, 6);
}

/** Whether all steps and transitions of a content are in another content. */
export function isPartOf(part: WorkflowContent, whole: WorkflowContent): boolean {
  return (
    Object.entries(part.steps).every(([name, step]) => isSame(step, fieldOf(whole.steps, name))) &&
    part.transitions.every((transition) => whole.transitions.includes(transition))
  );
}

/** Makes the request body that creates a workflow. `name` is the name of its version. */
export function workflowBody(definition: WorkflowDefinition, name: string): WorkflowCreate {
  const { trigger, allowReentry = false, fields } = definition;
  // The document says that workflows start disabled, but some services use `enabled` of the request.
  const required = { name, enabled: false } as const;
  return mergeFields({ eventName: trigger.event, allowReentry }, fields, required);
}

/** Makes the request body that creates a step. */
export function stepBody(definition: WorkflowDefinition, key: string): StepCreate {
  const steps = stepsOf(definition);
  const position = steps.findIndex(([name]) => name === key);
  const [, step] = steps[position] ?? [];
  if (step === undefined) {
    throw new TypeError(`The definition has no step "${key}".`);
  }
  const body = {
    name: step.name ?? key,
    config: mergeFields(configOf(step), step.config),
    // Some services require a position on their canvas, and connect a new step automatically unless
    // `autoConnect` is `false`.
    position: { x: 0, y: position * 120 },
    autoConnect: false,
  };
  return { ...mergeFields(body, step.fields), type: step.type };
}

/** Makes the request body that creates a transition. */
export function transitionBody(
  fromStepId: string,
  toStepId: string,
  { branch, fields }: Pick<DefinedTransition, 'branch' | 'fields'> = {},
): TransitionCreate {
  // Some services expect the branch inside `condition`, so it is sent in both places.
  const transition = branch === undefined ? {} : { branch, condition: { branch } };
  return mergeFields({ fromStepId, toStepId, ...transition }, fields);
}

/** A live workflow with the transitions between its steps, from all places where a response may have them. */
export interface LiveGraph {
  readonly workflow: WorkflowGraph;
  /** The steps, without the step that represents the trigger. */
  readonly steps: readonly WorkflowStep[];
  readonly transitions: readonly LiveTransition[];
  /** The id of the step that represents the trigger, if the service has one. */
  readonly trigger: string | undefined;
  /** The id of the first step. */
  readonly start: string | undefined;
}

interface LiveTransition {
  readonly from: string;
  readonly to: string;
  readonly branch: string | undefined;
  readonly fields: WorkflowFieldValues;
}

/**
 * Reads the graph of a workflow. Returns `undefined` if the response does not show its steps. If a step in the
 * response has no name, the name is taken from `names`, by the id of the step.
 */
export function graphOf(
  workflow: WorkflowGraph,
  names: ReadonlyMap<string, string> = new Map(),
): LiveGraph | undefined {
  const { steps: shown, transitions: separate } = workflow;
  if (!Array.isArray(shown)) {
    return undefined;
  }
  const inside = shown.flatMap((step) => Object.values(step).flatMap(transitionsOf));
  const records = new Map(
    [...transitionsOf(separate), ...inside].map((record) => [
      textOf(record['id']) ?? jsonOf(record),
      record,
    ]),
  );
  const all = [...records.values()].map(readTransition);
  const everyStep = shown.map((step): WorkflowStep => ({
    ...step,
    name: textOf(step['name']) ?? names.get(step.id),
  }));
  const trigger = everyStep.find(({ type }) => type === 'TRIGGER')?.id;
  const steps = everyStep.filter(({ id }) => id !== trigger);
  const transitions = all.filter(({ from }) => from !== trigger);
  const first = all.find(({ from }) => from === trigger)?.to;
  const start =
    trigger === undefined
      ? steps.find(({ id }) => !transitions.some(({ to }) => to === id))?.id
      : first;
  return { workflow, steps, transitions, trigger, start };
}

/** Returns the event that starts a live workflow, or `undefined` if the response does not show it. */
export function eventOf({ eventName, triggerConfig }: WorkflowFieldValues): string | undefined {
  return (
    textOf(eventName) ?? (isRecord(triggerConfig) ? textOf(triggerConfig['eventName']) : undefined)
  );
}

/**
 * Lists the differences between a definition and the deployed graph, each in a few words. Fields that the service
 * adds, and a `config` that it does not show, are not differences.
 */
export function differencesOf(definition: WorkflowDefinition, live: LiveGraph): string[] {
  const wanted = contentOf(definition);
  const found = liveContentOf(live, definition);
  const steps = Object.entries(wanted.steps).flatMap(([name, { type, config }]) => {
    const step = live.steps.find((one) => nameIn(one) === name);
    if (step === undefined || (step.type !== undefined && step.type !== type)) {
      return [`step "${name}" is missing`];
    }
    if (!isRecord(step['config'])) {
      return []; // the response does not show the `config` of the step
    }
    const shown: WorkflowFieldValues = { ...step, ...step['config'] };
    return Object.entries(config)
      .filter(([field, value]) => !contains(fieldOf(shown, field), value))
      .map(([field]) => `\`config.${field}\` of step "${name}" is not what was sent`);
  });
  const withoutFields = (transitions: readonly string[]) =>
    transitions.map((transition) => jsonOf(parts(transition).slice(0, 3)));
  const [ours, theirs] = [withoutFields(wanted.transitions), withoutFields(found.transitions)];
  const unsentSteps = Object.keys(found.steps).filter((name) => !Object.hasOwn(wanted.steps, name));
  return [
    ...steps,
    ...unsentSteps.map((name) => `step "${name}" was not sent`),
    ...ours
      .filter((transition) => !theirs.includes(transition))
      .map((transition) => `transition ${transition} is missing`),
    ...theirs
      .filter((transition, at) => !ours.includes(transition) || theirs.indexOf(transition) !== at)
      .map((transition) => `transition ${transition} was not sent`),
    ...(found.start === wanted.start ? [] : [`it does not start with step "${wanted.start}"`]),
  ];
}

function configOf(step: StepDefinition): StepConfig {
  switch (step.type) {
    case 'SEND_EMAIL': {
      const { template, subject, body, from } = step;
      return omitUndefined({ templateId: template, subject, body, from: normalizeEmail(from) });
    }
    case 'DELAY':
      return { duration: { amount: step.amount, unit: step.unit } };
    case 'WAIT_FOR_EVENT': {
      const { event, timeout } = step;
      const span = timeout && { amount: timeout.amount, unit: timeout.unit };
      return omitUndefined({ eventName: event, timeout: span });
    }
    case 'CONDITION':
      return { condition: step.if };
    case 'WEBHOOK':
      return { url: step.url };
    case 'UPDATE_CONTACT':
      return { data: step.data };
    case 'EXIT':
      return {};
  }
}

function readTransition({
  fromStepId,
  toStepId,
  branch,
  condition,
  ...rest
}: WorkflowFieldValues): LiveTransition {
  const { branch: inside, ...others } = isRecord(condition) ? condition : {};
  const more = Object.keys(others).length > 0 ? { ...rest, condition: others } : rest;
  return {
    from: textOf(fromStepId) ?? '',
    to: textOf(toStepId) ?? '',
    branch: textOf(branch) ?? textOf(inside),
    fields: omitFields(more, transitionOnly),
  };
}

function nameIn({ id, name }: WorkflowStep): string {
  return textOf(name) ?? id;
}

/** Returns the transitions in a field of a response; an empty list if the field has none. */
function transitionsOf(value: unknown): WorkflowFieldValues[] {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return items.filter(isRecord).filter(({ fromStepId, toStepId }) => fromStepId && toStepId);
}

function serializeTransition(
  from: string,
  to: string,
  branch: string | undefined,
  fields: WorkflowFieldValues,
): string {
  return jsonOf([from, to, branch ?? 'next', fields]);
}

function parts(transition: string): unknown[] {
  return JSON.parse(transition) as unknown[]; // `serializeTransition()` has written it
}

// Fields that are not part of a content: ids, times, the position on a canvas, and fields only used for creation.
const responseOnly = ['id', 'workflowId', 'projectId', 'createdAt', 'updatedAt'];
const stepOnly = [...responseOnly, 'position', 'autoConnect', 'name'];
const transitionOnly = [...responseOnly, 'fromStepId', 'toStepId', 'branch'];

/** Returns the fields of a record that are part of its content: without `names`, unset fields and transitions. */
function omitFields(record: object, names: readonly string[]): WorkflowFieldValues {
  const entries = Object.entries(record).filter(
    ([name, value]) =>
      !names.includes(name) && !isUnset(value) && transitionsOf(value).length === 0,
  );
  return Object.fromEntries(entries);
}

function isUnset(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Whether a value contains all fields of this content, at any depth. */
function contains(value: unknown, content: unknown): boolean {
  if (!isRecord(content)) {
    return isSame(value, content);
  }
  return (
    isRecord(value) &&
    Object.entries(content).every(([name, part]) => contains(fieldOf(value, name), part))
  );
}

/** Returns an own property of an object, never an inherited one: a step may be called `constructor`. */
function fieldOf(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as WorkflowFieldValues)[name] : undefined; // any object can be read by name
}

function isSame(one: unknown, other: unknown): boolean {
  return jsonOf(one) === jsonOf(other);
}

/** Converts a value to JSON with sorted keys, so that equal values have equal texts. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_name, field: unknown) => {
    if (!isRecord(field)) {
      return field;
    }
    const names = Object.keys(field).sort();
    return Object.fromEntries(names.map((name) => [name, field[name]]));
  });
}

// Some services use `''` for a field that is not set.
function textOf(value: unknown): string | undefined {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText && value !== '' ? String(value) : undefined;
}

function omitUndefined(fields: WorkflowFieldValues): StepConfig {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Merges the fields of several objects: later ones replace earlier ones. */
function mergeFields(...layers: readonly (object | undefined)[]): Record<string, unknown> {
  return Object.fromEntries(layers.flatMap((layer) => Object.entries(layer ?? {})));
}
