import type { FakeMessaging, MessagingBehavior } from 'postreel/testing';
import fc from '../property.js';

/** A change that a colleague makes in the dashboard; numbers pick the part, whatever there is. */
export interface Change {
  readonly kind:
    | 'configure'
    | 'rename step'
    | 'delete step'
    | 'add step'
    | 'delete transition'
    | 'rename'
    | 'other event'
    | 'reentry'
    | 'switch';
  readonly part: number;
  readonly value: number;
}

/** Zero to three changes of a colleague. */
export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Change['kind']>(
      'configure',
      'rename step',
      'delete step',
      'add step',
      'delete transition',
      'rename',
      'other event',
      'reentry',
      'switch',
    ),
    part: fc.nat(),
    value: fc.integer({ min: 1, max: 9 }),
  }),
  { maxLength: 3 },
);

/** Where a service differs in what a deployment depends on. */
export const services: fc.Arbitrary<Partial<MessagingBehavior>> = fc.record({
  stepDefaults: fc.constantFrom('none', 'added'),
  acknowledgements: fc.constantFrom('described', 'success', 'no-content'),
  created: fc.constantFrom(201, 202),
});

/** What a colleague changes, as the service stores it. */
export function applyChange(fake: FakeMessaging, { kind, part, value }: Change): void {
  const [workflow] = fake.project.workflows.values();
  if (workflow === undefined) {
    return;
  }
  const steps = [...workflow.steps.values()];
  const transitions = [...workflow.transitions.values()];
  const step = steps[part % Math.max(1, steps.length)];
  switch (kind) {
    case 'configure':
      if (step) {
        step.config = { ...step.config, byHand: value };
      }
      break;
    case 'rename step':
      if (step) {
        step.name = `by hand ${value}`;
      }
      break;
    case 'delete step':
      workflow.steps.delete(step?.id ?? '');
      for (const { id, fromStepId, toStepId } of transitions) {
        if (fromStepId === step?.id || toStepId === step?.id) {
          workflow.transitions.delete(id);
        }
      }
      break;
    case 'add step': {
      const id = `stp_byhand${part % 1_000}_${value}`;
      workflow.steps.set(id, { id, type: 'EXIT', name: `added ${value}`, config: {} });
      if (step) {
        const way = { id: `trn_${id}`, fromStepId: step.id, toStepId: id };
        workflow.transitions.set(way.id, way);
      }
      break;
    }
    case 'delete transition':
      workflow.transitions.delete(transitions[part % Math.max(1, transitions.length)]?.id ?? '');
      break;
    case 'rename':
      workflow.name = `By hand ${value}`;
      break;
    case 'other event':
      workflow.triggerConfig = { eventName: `by_hand_${value}` };
      break;
    case 'reentry':
      workflow.allowReentry = !workflow.allowReentry;
      break;
    case 'switch':
      workflow.enabled = !workflow.enabled;
      break;
  }
}

/** What the service has stored: each part by its id, as JSON. */
export function stored(fake: FakeMessaging): Map<string, string> {
  const parts = new Map<string, string>();
  for (const workflow of fake.project.workflows.values()) {
    const { name, triggerConfig, allowReentry, enabled } = workflow;
    const fields = { name, event: triggerConfig['eventName'], allowReentry, enabled };
    for (const [field, value] of Object.entries(fields)) {
      parts.set(`${workflow.id} ${field}`, JSON.stringify(value));
    }
    for (const part of [...workflow.steps.values(), ...workflow.transitions.values()]) {
      parts.set(part.id, sortedJson(part));
    }
  }
  return parts;
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
}

/** The changes of others that are gone: parts that are not as they left them. */
export function lost(
  before: ReadonlyMap<string, string>,
  theirs: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const changed = [...theirs].filter(([id, part]) => before.get(id) !== part);
  const undone = changed.filter(([id, part]) => after.get(id) !== part).map(([id]) => id);
  const deleted = [...before.keys()].filter((id) => !theirs.has(id));
  const names = deleted.flatMap((id) => nameIn(before.get(id)));
  const back = [...after].filter(
    ([id, part]) => !theirs.has(id) && names.includes(nameIn(part)[0] ?? ''),
  );
  return [...undone, ...back.map(([id]) => `${id} is back`)];
}

function nameIn(part = '{}'): string[] {
  const { name } = (JSON.parse(part) ?? {}) as { name?: string }; // a step as it is stored
  return name === undefined ? [] : [name];
}
