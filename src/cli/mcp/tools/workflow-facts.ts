import type { Workflow } from 'postreel/messaging';
import type { Fact } from '../plans.js';
import { Refusal } from '../refusal.js';
import { inline } from '../text.js';
import { templateFacts, variableFacts } from './mail-facts.js';
import type { Services } from './tool.js';

const maxWorkflows = 50;

/** What happens when a contact's `subscribed` changes. */
export const subscriptionEvents = ['contact.subscribed', 'contact.unsubscribed'];

/**
 * What workflows may mail once one of these events happens: those that are on and name it, whole, and the
 * names of the others that are on.
 */
export async function startedFacts(
  events: readonly string[],
  services: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  const { workflows } = services.messaging;
  const listed = await workflows.list({}, { signal }).toArray({ max: 1000 });
  const on = listed.filter(({ enabled }) => enabled !== false);
  if (on.length > maxWorkflows) {
    throw new Refusal(
      `More than ${maxWorkflows} workflows are on: a plan cannot show what this starts. Do it by a program.`,
    );
  }
  const whole = await Promise.all(on.map(({ id }) => workflows.get(id, { signal })));
  // The document does not show where a workflow keeps the name of its event.
  const [started, others] = [true, false].map((wanted) =>
    whole
      .filter((workflow) => events.some((event) => names(workflow, event)) === wanted)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
  const facts = await Promise.all(
    (started ?? []).map((workflow, index) =>
      workflowFacts(workflow, services, signal, `workflow ${index + 1}`),
    ),
  );
  return [
    { label: 'starts', text: listOf(started) },
    ...facts.flat(),
    { label: 'other workflows that are on', text: listOf(others) },
  ];
}

/** A workflow with all that it mails. */
export async function workflowFacts(
  { steps, transitions, ...workflow }: Workflow,
  { messaging }: Services,
  signal: AbortSignal,
  label: string,
): Promise<Fact[]> {
  const lines = (parts: unknown) => (Array.isArray(parts) ? parts.map(inline).join('\n') : '');
  const all = await messaging.templates.list({}, { signal }).toArray({ max: 1000 });
  const used = all.filter(({ id }) => JSON.stringify(steps ?? []).includes(JSON.stringify(id)));
  const templates = await Promise.all(
    used.map(({ id }, index) =>
      templateFacts(id, messaging, signal, `${label} template ${index + 1}`),
    ),
  );
  return [
    { label, text: inline(workflow) },
    { label: `${label} steps`, text: lines(steps) || 'none' },
    { label: `${label} transitions`, text: lines(transitions) || 'none' },
    ...templates.flat(),
    ...variableFacts(messaging, {
      texts: [JSON.stringify(steps ?? []), ...used.flatMap(({ subject, body }) => [subject, body])],
    }).map((fact) => ({ ...fact, label: `${label} ${fact.label}` })),
  ];
}

// The service may take names alike that differ in case.
function names(workflow: Workflow, event: string): boolean {
  return JSON.stringify(workflow).toLowerCase().includes(event.trim().toLowerCase());
}

function listOf(workflows: readonly Workflow[] = []): string {
  return workflows.map(({ id, name }) => inline({ id, name })).join(', ') || 'none';
}
