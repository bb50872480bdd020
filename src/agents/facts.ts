import type { Paginated } from 'postreel';
import type { MessagingClient, Workflow } from 'postreel/messaging';
import { isRecord } from '../core/values.js';
import { formatAddresses, formatInline, quoteLines, ToolRefusal } from './text.js';
import type { Fact, Services } from './tool.js';

/** The facts in a plan about the emails and workflows that a step starts. */

const maxWorkflows = 50;

/** The current subject, sender and body of a template at the service. */
export async function describeTemplate(
  id: string,
  { templates }: MessagingClient,
  signal: AbortSignal,
  label: string,
): Promise<Fact[]> {
  const { body, from, fromName, replyTo, ...others } = await templates.get(id, { signal });
  return [
    { label, text: formatInline(others) },
    { label: `${label} from`, text: formatAddresses({ from, fromName, replyTo }) },
    describeBody(`${label} body`, body),
  ];
}

/** The whole text, so that a person can read everything that will be sent. */
export function describeBody(label: string, body: unknown): Fact {
  return { label, text: quoteLines(typeof body === 'string' ? body : formatInline(body)) };
}

/** A text with variables, and their given values. */
export interface TemplateTexts {
  readonly texts: readonly unknown[];
  readonly data?: unknown;
}

/** The variables that the service fills in for each contact, and that a plan cannot show. */
export function describeVariables(
  { templates }: MessagingClient,
  { texts, data }: TemplateTexts,
): Fact[] {
  const given = typeof data === 'object' && data !== null ? data : {};
  const found = texts.flatMap((text) =>
    typeof text === 'string' ? templates.variables(text) : [],
  );
  const open = [
    ...found
      .flatMap(({ variables }) => variables.map(({ path }) => path))
      .filter((path) => !Object.hasOwn(given, path.split('.')[0] ?? '')),
    ...found.flatMap(({ notUnderstood }) => notUnderstood),
  ].map(formatInline);
  const names = [...new Set(open)].join(', ');
  const text = `${names}, from the fields of each contact, which strangers may have written`;
  return names === '' ? [] : [{ label: 'filled in', text }];
}

/** Like `describeVariables()`, for known contacts: also shows the fields of each contact. */
export async function describeFilledVariables(
  messaging: MessagingClient,
  emails: readonly string[],
  text: TemplateTexts,
  signal: AbortSignal,
): Promise<Fact[]> {
  const facts = describeVariables(messaging, text);
  if (facts.length === 0) {
    return [];
  }
  const fields = await Promise.all(
    emails.map(async (email) => {
      const contact = await messaging.contacts.findByEmail(email, { signal });
      return `${formatAddresses(email)} ${formatInline(contact?.data ?? 'none yet')}`;
    }),
  );
  return [...facts, { label: 'fields', text: fields.join('\n') }];
}

/** The events of a change of a contact's `subscribed`. */
export const subscriptionEvents = ['contact.subscribed', 'contact.unsubscribed'];

/**
 * The mail that workflows may send after one of these events: the full text of the enabled workflows that
 * name the event, and the names of the other enabled ones.
 */
export async function describeStartedWorkflows(
  events: readonly string[],
  services: Services,
  signal: AbortSignal,
): Promise<Fact[]> {
  const { workflows } = services.messaging;
  const { items, beyond } = await firstOf(workflows.list({}, { signal }), 'workflows');
  const on = items.filter(({ enabled }) => enabled !== false);
  if (on.length > maxWorkflows) {
    throw new ToolRefusal(
      `More than ${maxWorkflows} workflows are on: a plan cannot show what this starts. Do this in a program instead.`,
    );
  }
  const whole = await Promise.all(on.map(({ id }) => workflows.get(id, { signal })));
  // The service's documents do not show where a workflow keeps the name of its event.
  const [started, others] = [true, false].map((wanted) =>
    whole
      .filter((workflow) => events.some((event) => hasEvent(workflow, event)) === wanted)
      .sort((one, other) => (one.id < other.id ? -1 : 1)),
  );
  const facts = await Promise.all(
    (started ?? []).map((workflow, index) =>
      describeWorkflow(workflow, services, signal, `workflow ${index + 1}`),
    ),
  );
  return [
    { label: 'starts', text: listOf(started) },
    ...facts.flat(),
    { label: 'other workflows that are on', text: listOf(others) },
    ...beyond,
  ];
}

const maxListed = 1000;

/** The first items of a list, up to the number that a plan examines, and a fact if there are more. */
async function firstOf<T>(list: Paginated<T>, what: string) {
  const items = await list.toArray({ max: maxListed + 1 });
  const text = `${what} beyond the first ${maxListed}: they are not in this plan`;
  const beyond = items.length > maxListed ? [{ label: 'not looked at', text }] : [];
  return { items: items.slice(0, maxListed), beyond };
}

/** A workflow with all mail that it sends. */
export async function describeWorkflow(
  { steps, transitions, ...workflow }: Workflow,
  { messaging }: Services,
  signal: AbortSignal,
  label: string,
): Promise<Fact[]> {
  const lines = (parts: unknown) =>
    Array.isArray(parts) ? parts.map(formatInline).join('\n') : '';
  const { items, beyond } = await firstOf(messaging.templates.list({}, { signal }), 'templates');
  const values = textsIn(steps);
  const used = items.filter(({ id }) => values.includes(id));
  const templates = await Promise.all(
    used.map(({ id }, index) =>
      describeTemplate(id, messaging, signal, `${label} template ${index + 1}`),
    ),
  );
  return [
    { label, text: formatInline(workflow) },
    { label: `${label} steps`, text: lines(steps) || 'none' },
    { label: `${label} transitions`, text: lines(transitions) || 'none' },
    ...templates.flat(),
    ...describeVariables(messaging, {
      texts: [...values, ...used.flatMap(({ subject, body }) => [subject, body])],
    }).map((fact) => ({ ...fact, label: `${label} ${fact.label}` })),
    ...beyond.map((fact) => ({ ...fact, label: `${label} ${fact.label}` })),
  ];
}

// Ignore case: the service may treat names as equal that differ only in case.
function hasEvent(workflow: Workflow, event: string): boolean {
  const name = event.trim().toLowerCase();
  return textsIn(workflow).some((text) => text.toLowerCase().includes(name));
}

/** Collects the texts in a value, and the names of its fields. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') {
    return [value];
  }
  if (Array.isArray(value)) {
    return value.flatMap(textsIn);
  }
  const parts = isRecord(value) ? Object.entries(value) : [];
  return parts.flatMap(([name, part]) => [name, ...textsIn(part)]);
}

function listOf(workflows: readonly Workflow[] = []): string {
  return workflows.map(({ id, name }) => formatInline({ id, name })).join(', ') || 'none';
}
