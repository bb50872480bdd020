import { type FieldError, invalidRequest } from '../../../core/errors.js';
import type { StepDefinition, WorkflowDefinition } from './definition.js';
import { edgesFrom, edgesOf, startOf, stepAt } from './graph.js';

/**
 * Defines a workflow as a graph of steps. A step that does not exist and a condition without both of
 * its branches do not compile; a step that nothing leads to, a way without an `EXIT` and a loop
 * without a pause throw an `InvalidRequestError`.
 * @example
 * const onboarding = defineWorkflow({
 *   key: 'onboarding',
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
  const problems = [...headProblems(definition), ...stepProblems(definition)];
  // The shape of a graph with loose ends is not checked.
  const all = problems.length > 0 ? problems : graphProblems(definition);
  if (all.length > 0) {
    throw invalidRequest(all);
  }
}

function headProblems({ key, name, trigger }: WorkflowDefinition): FieldError[] {
  const texts = { key, name, 'trigger.event': trigger.event };
  return Object.entries(texts)
    .filter(([, text]) => typeof text !== 'string' || text === '')
    .map(([field]) => ({ field, message: 'must be a string that is not empty' }));
}

function stepProblems(definition: WorkflowDefinition): FieldError[] {
  const { steps, start } = definition;
  const keys = new Set(Object.keys(steps));
  if (keys.size === 0) {
    return [{ field: 'steps', message: 'must have at least one step' }];
  }
  const wrongStart = start !== undefined && !keys.has(start);
  return [
    ...(wrongStart ? [{ field: 'start', message: `names no step: "${start}"` }] : []),
    ...Object.entries(steps).flatMap(([key, step]) => [
      ...looseEnds(key, step, keys),
      ...contentProblems(`steps.${key}`, step),
    ]),
  ];
}

function looseEnds(key: string, step: StepDefinition, keys: ReadonlySet<string>): FieldError[] {
  return edgesFrom(key, step)
    .filter(({ to }) => !keys.has(to))
    .map(({ to, branch = 'next' }) => ({
      field: `steps.${key}.${branch}`,
      message: `must name a step of this workflow; got ${JSON.stringify(to)}`,
    }));
}

function contentProblems(path: string, step: StepDefinition): FieldError[] {
  switch (step.type) {
    case 'SEND_EMAIL': {
      const isComplete = step.template !== undefined || (step.subject && step.body);
      return isComplete
        ? []
        : [{ field: path, message: 'needs `template`, or `subject` and `body`' }];
    }
    case 'DELAY':
      return spanProblem(`${path}.amount`, step.amount);
    case 'WAIT_FOR_EVENT':
      return step.timeout ? spanProblem(`${path}.timeout.amount`, step.timeout.amount) : [];
    case 'WEBHOOK':
      return /^https?:\/\/./.test(step.url)
        ? []
        : [{ field: `${path}.url`, message: 'must be an absolute http or https address' }];
    default:
      return [];
  }
}

function spanProblem(field: string, amount: number): FieldError[] {
  return amount > 0 && Number.isFinite(amount) ? [] : [{ field, message: 'must be above 0' }];
}

function graphProblems(definition: WorkflowDefinition): FieldError[] {
  const edges = edgesOf(definition);
  const keys = Object.keys(definition.steps);
  const start = startOf(definition) ?? '';
  const forward = neighbours(edges.map(({ from, to }) => [from, to]));
  const backward = neighbours(edges.map(({ from, to }) => [to, from]));
  const reached = reachable([start], forward);
  const exits = keys.filter((key) => stepAt(definition, key)?.type === 'EXIT');
  const ending = reachable(exits, backward);
  return [
    ...keys
      .filter((key) => !reached.has(key))
      .map((key) => ({ field: `steps.${key}`, message: 'is never reached' })),
    ...keys
      .filter((key) => reached.has(key) && !ending.has(key))
      .map((key) => ({ field: `steps.${key}`, message: 'never leads to an EXIT step' })),
    ...(backward.has(start)
      ? // The service finds the start as the step that nothing leads to.
        [{ field: `steps.${start}`, message: 'is the start, so no step may lead back to it' }]
      : []),
    ...loopsWithoutPause(definition, forward),
  ];
}

// A loop through a DELAY or WAIT_FOR_EVENT is a reminder; any other runs forever at once.
function loopsWithoutPause(
  definition: WorkflowDefinition,
  forward: ReadonlyMap<string, readonly string[]>,
): FieldError[] {
  const isPause = (key: string) =>
    ['DELAY', 'WAIT_FOR_EVENT'].includes(stepAt(definition, key)?.type ?? '');
  const busy = new Map(
    [...forward]
      .filter(([from]) => !isPause(from))
      .map(([from, targets]) => [from, targets.filter((to) => !isPause(to))]),
  );
  return [...busy.keys()]
    .filter((key) => reachable(busy.get(key) ?? [], busy).has(key))
    .map((key) => ({ field: `steps.${key}`, message: 'is in a loop without a pause' }));
}

function neighbours(pairs: readonly (readonly [string, string])[]): Map<string, string[]> {
  const map = new Map<string, string[]>();
  for (const [from, to] of pairs) {
    map.set(from, [...(map.get(from) ?? []), to]);
  }
  return map;
}

function reachable(
  from: readonly string[],
  next: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const seen = new Set(from);
  // A set can grow while it is walked.
  for (const key of seen) {
    for (const target of next.get(key) ?? []) {
      seen.add(target);
    }
  }
  return seen;
}
