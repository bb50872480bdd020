import { type FieldError, invalidRequest } from '../../core/errors.js';
import { isRecord, type OpenInput } from '../../core/values.js';
import { isReserved, isTransient, reservedKeys, type PersistentData } from '../shared/data.js';
import { filterProblem, type Filter } from '../shared/filters.js';
import { emailOf, emailProblem, normalizeAddress } from '../shared/values.js';
import type { StepConfig, StepType, TransitionBranch } from '../workflows.types.js';

/** A length of time. */
export interface Span {
  readonly amount: number;
  readonly unit: 'minutes' | 'hours' | 'days';
}

interface StepBase {
  /**
   * The step's name in the service; no two steps have the same.
   * @default its key
   */
  readonly name?: string | undefined;
  /** Further fields of the step's `config`. They replace the fields that the definition makes. */
  readonly config?: StepConfig | undefined;
  /** Further fields of the step, next to `config`. They are sent unchanged. */
  readonly fields?: OpenInput | undefined;
  /** Further fields of the transitions out of this step. They are sent unchanged. */
  readonly transitions?:
    { readonly [Way in 'next' | 'yes' | 'no']?: OpenInput | undefined } | undefined;
}

/** Sends an email: a template, or a subject and a body. */
export interface SendEmailStep<Key extends string = string> extends StepBase {
  readonly type: 'SEND_EMAIL';
  /** The id of a template; it must exist when the workflow is deployed. */
  readonly template?: string | undefined;
  readonly subject?: string | undefined;
  readonly body?: string | undefined;
  /** The sender's address, on a verified domain. */
  readonly from?: string | undefined;
  readonly next: Key;
}

/** Pauses for a while. */
export interface DelayStep<Key extends string = string> extends StepBase, Span {
  readonly type: 'DELAY';
  readonly next: Key;
}

/** Pauses until the contact's event is tracked, or the timeout is over. */
export interface WaitForEventStep<Key extends string = string> extends StepBase {
  readonly type: 'WAIT_FOR_EVENT';
  readonly event: string;
  readonly timeout?: Span | undefined;
  readonly next: Key;
}

/** Continues with one of two steps. */
export interface ConditionStep<Key extends string = string> extends StepBase {
  readonly type: 'CONDITION';
  /** The filter that must match for `yes`: `where('data.plan').equals('pro')`. */
  readonly if: Filter;
  readonly yes: Key;
  readonly no: Key;
}

/** Calls your webhook. */
export interface WebhookStep<Key extends string = string> extends StepBase {
  readonly type: 'WEBHOOK';
  readonly url: string;
  readonly next: Key;
}

/** Writes custom fields of the contact. */
export interface UpdateContactStep<Key extends string = string> extends StepBase {
  readonly type: 'UPDATE_CONTACT';
  readonly data: PersistentData;
  readonly next: Key;
}

/** Ends the workflow for the contact. */
export interface ExitStep extends StepBase {
  readonly type: 'EXIT';
}

/** One step of a defined workflow; `Key` is the union of the keys of all its steps. */
export type StepDefinition<Key extends string = string> =
  | SendEmailStep<Key>
  | DelayStep<Key>
  | WaitForEventStep<Key>
  | ConditionStep<Key>
  | WebhookStep<Key>
  | UpdateContactStep<Key>
  | ExitStep;

/** A workflow as code. */
export interface WorkflowDefinition<Key extends string = string> {
  /** The name in the service, where the mark of the version follows it: `Welcome · 3f2a9c`. */
  readonly name: string;
  /** The event that starts the workflow. */
  readonly trigger: { readonly event: string };
  /**
   * The key of the step where the workflow starts.
   * @default the first step
   */
  readonly start?: NoInfer<Key> | undefined;
  /**
   * Whether a contact may go through the workflow more than once.
   * @default false
   */
  readonly allowReentry?: boolean | undefined;
  /** Further fields of the workflow. They are sent unchanged. */
  readonly fields?: OpenInput | undefined;
  readonly steps: { readonly [Name in Key]: StepDefinition<NoInfer<Key>> };
}

/**
 * Defines a workflow as a graph of steps. A step that does not exist and a condition without both of
 * its branches do not compile. Mistakes that the compiler cannot see throw an `InvalidRequestError`: a step that
 * no step leads to, a branch that a step does not have, a path without an `EXIT`, a loop without a pause.
 * @example
 * const onboarding = defineWorkflow({
 *   name: 'Onboarding',
 *   trigger: { event: 'signed_up' },
 *   steps: {
 *     welcome: { type: 'SEND_EMAIL', template: 'tpl_welcome', next: 'wait' },
 *     wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'isPro' },
 *     isPro: { type: 'CONDITION', if: where('data.plan').equals('pro'), yes: 'done', no: 'offer' },
 *     offer: { type: 'SEND_EMAIL', template: 'tpl_offer', next: 'done' },
 *     done: { type: 'EXIT' },
 *   },
 * });
 */
export function defineWorkflow<Key extends string>(
  definition: WorkflowDefinition<Key>,
): WorkflowDefinition<Key> {
  checkDefinition(definition);
  return definition;
}

/** Throws an `InvalidRequestError` that names everything that is wrong with a definition. */
export function checkDefinition(definition: WorkflowDefinition): void {
  const problems = headProblems(definition);
  // Each check needs the result of the one before: steps with missing targets have no graph.
  const inSteps = problems.length > 0 ? problems : stepProblems(definition);
  const all = inSteps.length > 0 ? inSteps : graphProblems(definition);
  if (all.length > 0) {
    throw invalidRequest(all);
  }
}

/** A transition from one step to another, by their keys. */
export interface DefinedTransition {
  readonly from: string;
  readonly to: string;
  readonly branch?: TransitionBranch | undefined;
  /** Further fields of the transition. */
  readonly fields?: OpenInput | undefined;
}

/** Returns the steps of a definition with their keys. The start is the first one. */
export function stepsOf({ start, steps }: WorkflowDefinition): [string, StepDefinition][] {
  const entries = Object.entries(steps);
  const isStart = ([key]: [string, StepDefinition]) => key === start;
  return [...entries.filter(isStart), ...entries.filter((entry) => !isStart(entry))];
}

/** Returns all transitions of a definition. */
export function listTransitions(definition: WorkflowDefinition): DefinedTransition[] {
  return stepsOf(definition).flatMap(([from, step]) => listTransitionsFrom(from, step));
}

/** Returns the name of a step in the service. */
export function nameOfStep({ steps }: WorkflowDefinition, key: string): string {
  const all: Readonly<Record<string, StepDefinition>> = steps;
  return all[key]?.name ?? key;
}

/** Matches the mark at the end of a version's name, with its state if the deployment is not complete. */
export const markPattern = / · ([0-9a-f]{6})(?: \((switching|draft \w+)\))?$/;

function listTransitionsFrom(from: string, step: StepDefinition): DefinedTransition[] {
  const { transitions: own = {} } = step;
  switch (step.type) {
    case 'EXIT':
      return [];
    case 'CONDITION':
      return [
        { from, to: step.yes, branch: 'yes', fields: own.yes },
        { from, to: step.no, branch: 'no', fields: own.no },
      ];
    default:
      return [{ from, to: step.next, fields: own.next }];
  }
}

// ---- checks that TypeScript makes for its users, but JavaScript does not

function headProblems(definition: WorkflowDefinition): FieldError[] {
  const given: unknown = definition;
  if (!isRecord(given)) {
    return [{ field: 'definition', message: 'must be an object, as `defineWorkflow()` takes it' }];
  }
  const { name, trigger, steps, allowReentry, fields } = given;
  const event = isRecord(trigger) ? trigger['event'] : undefined;
  const isMarked = typeof name === 'string' && markPattern.test(name);
  return [
    ...textProblem('name', name),
    ...problemIf(isMarked, 'name', 'must not end like the mark of a version: deploying adds it'),
    ...textProblem('trigger.event', event),
    ...problemIf(!isRecord(steps), 'steps', 'must be an object of steps'),
    ...problemIf(isRecord(steps) && Object.keys(steps).length === 0, 'steps', 'must not be empty'),
    ...problemIf(
      !isOneOf(allowReentry, undefined, true, false),
      'allowReentry',
      'must be true or false',
    ),
    ...problemIf(fields !== undefined && !isRecord(fields), 'fields', 'must be an object'),
  ];
}

/** The fields of each type of step, except for its transitions. */
const ownFields: Readonly<Record<StepType, readonly string[]>> = {
  SEND_EMAIL: ['template', 'subject', 'body', 'from'],
  DELAY: ['amount', 'unit'],
  WAIT_FOR_EVENT: ['event', 'timeout'],
  CONDITION: ['if'],
  WEBHOOK: ['url'],
  UPDATE_CONTACT: ['data'],
  EXIT: [],
};

const commonFields = ['type', 'name', 'config', 'fields', 'transitions'];
const transitionNames = ['next', 'yes', 'no'];

function stepProblems(definition: WorkflowDefinition): FieldError[] {
  const { steps, start } = definition;
  const keys = new Set(Object.keys(steps));
  const isLost = start !== undefined && !keys.has(start);
  return [
    ...problemIf(
      isLost,
      'start',
      `must name a step of this workflow; got ${JSON.stringify(start)}`,
    ),
    ...Object.entries(steps).flatMap(([key, step]) => problemsOfStep(key, step, keys)),
    ...nameProblems(steps),
  ];
}

function problemsOfStep(key: string, step: unknown, keys: ReadonlySet<string>): FieldError[] {
  const path = `steps.${key}`;
  if (!isRecord(step)) {
    return [{ field: path, message: 'must be an object with a `type`' }];
  }
  const { type, name, config, fields } = step;
  if (typeof type !== 'string' || !Object.hasOwn(ownFields, type)) {
    const types = Object.keys(ownFields).join(', ');
    return [{ field: `${path}.type`, message: `must be one of ${types}` }];
  }
  const known = step as unknown as StepDefinition; // its `type` is known; its fields are checked below
  const own = [...commonFields, ...ownFields[known.type], ...transitionNames];
  const unknownFields = Object.keys(step).filter((field) => !own.includes(field));
  return [
    ...unknownFields.flatMap((field) =>
      problemIf(
        true,
        `${path}.${field}`,
        `is not a field of a ${type} step: put it into \`fields\``,
      ),
    ),
    ...(name === undefined ? [] : textProblem(`${path}.name`, name)),
    ...problemIf(config !== undefined && !isRecord(config), `${path}.config`, 'must be an object'),
    ...problemIf(fields !== undefined && !isRecord(fields), `${path}.fields`, 'must be an object'),
    ...transitionProblems(path, step, known, keys),
    ...contentProblems(path, known),
  ];
}

function transitionProblems(
  path: string,
  step: Record<string, unknown>,
  known: StepDefinition,
  keys: ReadonlySet<string>,
): FieldError[] {
  const names = transitionNamesByType[known.type] ?? ['next'];
  const { transitions } = step;
  const unknown = [
    ...transitionNames
      .filter((name) => step[name] !== undefined)
      .map((name) => [name, `${path}.${name}`]),
    ...Object.keys(isRecord(transitions) ? transitions : {}).map((name) => [
      name,
      `${path}.transitions.${name}`,
    ]),
  ].filter(([name]) => !names.includes(name ?? ''));
  const rule =
    names.length > 0 ? `has ${names.map((name) => `\`${name}\``).join(' and ')} only` : 'ends';
  return [
    ...problemIf(
      transitions !== undefined && !isRecord(transitions),
      `${path}.transitions`,
      'must be an object',
    ),
    ...unknown.flatMap(([, field = '']) =>
      problemIf(
        true,
        field,
        `is not a transition of this step: a step of type ${known.type} ${rule}`,
      ),
    ),
    ...names.flatMap((name) => {
      const to = step[name];
      const isStep = typeof to === 'string' && keys.has(to);
      const got = `must name a step of this workflow; got ${JSON.stringify(to)}`;
      return problemIf(!isStep, `${path}.${name}`, got);
    }),
  ];
}

/** The transitions out of the steps that do not have exactly one, which is `next`. */
const transitionNamesByType: { readonly [Type in StepType]?: readonly string[] } = {
  CONDITION: ['yes', 'no'],
  EXIT: [],
};

function contentProblems(path: string, step: StepDefinition): FieldError[] {
  switch (step.type) {
    case 'SEND_EMAIL': {
      const isComplete = step.template !== undefined || (step.subject && step.body);
      const { template, from } = step;
      const sender = from === undefined ? undefined : emailProblem(emailOf(normalizeAddress(from)));
      return [
        ...problemIf(!isComplete, path, 'needs `template`, or `subject` and `body`'),
        ...(template === undefined ? [] : textProblem(`${path}.template`, template)),
        ...(sender === undefined ? [] : [{ field: `${path}.from`, message: sender }]),
      ];
    }
    case 'DELAY':
      return spanProblems(path, step);
    case 'WAIT_FOR_EVENT':
      return [
        ...textProblem(`${path}.event`, step.event),
        ...(step.timeout === undefined ? [] : spanProblems(`${path}.timeout`, step.timeout)),
      ];
    case 'CONDITION':
      return conditionProblems(`${path}.if`, step.if);
    case 'WEBHOOK': {
      const isAddress = /^https?:\/\/./.test(step.url);
      return problemIf(!isAddress, `${path}.url`, 'must be an absolute http or https address');
    }
    case 'UPDATE_CONTACT':
      return dataProblems(`${path}.data`, step.data);
    case 'EXIT':
      return [];
  }
}

function spanProblems(path: string, span: unknown): FieldError[] {
  const { amount, unit } = isRecord(span) ? span : {};
  const isAmount = typeof amount === 'number' && amount > 0 && Number.isFinite(amount);
  const isUnit = isOneOf(unit, 'minutes', 'hours', 'days');
  return [
    ...problemIf(!isAmount, `${path}.amount`, 'must be above 0'),
    ...problemIf(!isUnit, `${path}.unit`, "must be 'minutes', 'hours' or 'days'"),
  ];
}

function conditionProblems(field: string, condition: unknown): FieldError[] {
  const message = isRecord(condition)
    ? filterProblem(condition, 'if all contacts take the same transition, leave the step out')
    : "must be a filter, such as `where('data.plan').equals('pro')`";
  return message === undefined ? [] : [{ field, message }];
}

function dataProblems(path: string, data: unknown): FieldError[] {
  if (!isRecord(data)) {
    return [{ field: path, message: 'must be an object of custom fields' }];
  }
  return Object.entries(data).flatMap(([key, value]) => {
    const message = valueProblem(key, value);
    return message === undefined ? [] : [{ field: `${path}.${key}`, message }];
  });
}

/** Returns the reason why the service would not store a custom field. */
function valueProblem(key: string, value: unknown): string | undefined {
  if (isReserved(key)) {
    return `is reserved, and the service would drop it: ${reservedKeys[key]}`;
  }
  if (isTransient(value)) {
    return 'is `transient()`, and the service would not store it';
  }
  return value === ''
    ? 'is an empty string, which the service ignores; use null to delete the field'
    : undefined;
}

// The names must be unique, because a deployment finds the steps in the service by their names.
function nameProblems(steps: WorkflowDefinition['steps']): FieldError[] {
  const names = Object.entries(steps).map(([key, step]) => step.name ?? key);
  return Object.keys(steps)
    .filter((_, index) => names.indexOf(names[index] ?? '') !== index)
    .map((key) => ({ field: `steps.${key}.name`, message: 'is the name of another step, too' }));
}

// ---- the graph as a whole

function graphProblems(definition: WorkflowDefinition): FieldError[] {
  const transitions = listTransitions(definition);
  const steps = stepsOf(definition);
  const [start = ''] = steps.map(([key]) => key);
  const forward = mapNeighbours(transitions.map(({ from, to }) => [from, to]));
  const backward = mapNeighbours(transitions.map(({ from, to }) => [to, from]));
  const reached = findReachable([start], forward);
  const exits = steps.filter(([, { type }]) => type === 'EXIT').map(([key]) => key);
  const ending = findReachable(exits, backward);
  const keys = Object.keys(definition.steps);
  return [
    ...keys.flatMap((key) => problemIf(!reached.has(key), `steps.${key}`, 'is never reached')),
    ...keys
      .filter((key) => reached.has(key))
      .flatMap((key) => problemIf(!ending.has(key), `steps.${key}`, 'never leads to an EXIT step')),
    // In the service, the start is the step that no transition leads to.
    ...problemIf(
      backward.has(start),
      `steps.${start}`,
      'is the start, so no step may lead back to it',
    ),
    ...loopProblems(steps, forward),
  ];
}

// A loop through a DELAY or WAIT_FOR_EVENT may be a reminder. Any other loop would run without end and without a pause.
function loopProblems(
  steps: readonly (readonly [string, StepDefinition])[],
  forward: ReadonlyMap<string, readonly string[]>,
): FieldError[] {
  const isPause = ({ type }: StepDefinition) => type === 'DELAY' || type === 'WAIT_FOR_EVENT';
  const busy = new Set(steps.filter(([, step]) => !isPause(step)).map(([key]) => key));
  const transitions = new Map(
    [...busy].map((key) => [key, (forward.get(key) ?? []).filter((to) => busy.has(to))]),
  );
  return [...busy].flatMap((key) => {
    const isInLoop = findReachable(transitions.get(key) ?? [], transitions).has(key);
    return problemIf(isInLoop, `steps.${key}`, 'is in a loop without a pause');
  });
}

function mapNeighbours(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const [from, to] of pairs) {
    map.set(from, [...(map.get(from) ?? []), to]);
  }
  return map;
}

function findReachable(
  from: readonly string[],
  next: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const seen = new Set(from);
  // The loop also visits the keys that are added to the set during the iteration.
  for (const key of seen) {
    for (const target of next.get(key) ?? []) {
      seen.add(target);
    }
  }
  return seen;
}

function textProblem(field: string, value: unknown): FieldError[] {
  return problemIf(
    typeof value !== 'string' || value === '',
    field,
    'must be a string that is not empty',
  );
}

function isOneOf(value: unknown, ...values: readonly unknown[]): boolean {
  return values.includes(value);
}

function problemIf(isWrong: boolean, field: string, message: string): FieldError[] {
  return isWrong ? [{ field, message }] : [];
}
