import { isRecord } from '../../core/values.js';
import { parseDuration } from '../core/clock.js';
import { patchData } from './contact-store.js';
import { deliver } from './outbox.js';
import { contactField, dottedValue, meets, unitMs } from './filters.js';
import { defaultSender, isVerifiedSender } from './domains.js';
import type {
  Contact,
  Scope,
  WebhookCall,
  Workflow,
  WorkflowExecution,
  WorkflowStep,
} from './state.js';

/** A running execution, with everything that a step may need. */
export interface Run {
  readonly scope: Scope;
  readonly workflow: Workflow;
  readonly execution: WorkflowExecution;
  readonly contact: Contact;
}

/** The result of a step: the next step, a pause, or the end. */
export type StepOutcome =
  | { readonly go: 'on'; readonly branch?: 'yes' | 'no' }
  | { readonly go: 'wait'; readonly forMs?: number; readonly forEvent?: string }
  | { readonly go: 'call'; readonly call: () => Promise<void> }
  | { readonly go: 'out' };

/** Performs a step; throws, with a message for the execution, when it cannot. */
export function runStep(run: Run, step: WorkflowStep): StepOutcome {
  // The form of a step's configuration is not shown: read it from `config` and from the step itself.
  const config: StepConfig = { ...step, ...step.config };
  switch (step.type) {
    case 'TRIGGER':
      return { go: 'on' };
    case 'SEND_EMAIL':
      return sendEmail(run, config);
    case 'DELAY':
      return { go: 'wait', forMs: spanMs(config.duration ?? config) };
    case 'WAIT_FOR_EVENT':
      return waitForEvent(config);
    case 'CONDITION':
      return { go: 'on', branch: holds(run, config.condition ?? config) ? 'yes' : 'no' };
    case 'WEBHOOK':
      return callWebhook(run, config);
    case 'UPDATE_CONTACT':
      patchData(run.scope, run.contact, config.data);
      return { go: 'on' };
    default:
      return { go: 'out' };
  }
}

function sendEmail({ scope, workflow, execution, contact }: Run, config: StepConfig): StepOutcome {
  const template = findTemplate(scope, config);
  // Marketing mail goes to subscribed contacts only, as a campaign's does (not shown for workflows).
  if (template?.type === 'MARKETING' && !contact.subscribed) {
    return { go: 'on' };
  }
  const { fromName, replyTo, subject, body, from } = { ...template, ...contentOf(config) };
  if (typeof subject !== 'string' || typeof body !== 'string') {
    throw new Error('A SEND_EMAIL step needs `templateId`, or `subject` and `body`.');
  }
  const sender = typeof from === 'string' ? from : defaultSender(scope.project);
  if (typeof from === 'string' && !isVerifiedSender(scope.project, from)) {
    throw new Error(`The domain of ${from} is not verified.`);
  }
  deliver(scope, {
    to: contact,
    from: sender,
    subject,
    body,
    ...(typeof fromName === 'string' && { fromName }),
    ...(typeof replyTo === 'string' && { replyTo }),
    // messaging, Custom fields 7: `{{name}}` is a field of the contact, `{{event.name}}` a field of the event.
    variables: { ...eventData(execution), ...contact.data, ...execution.context },
    source: 'workflow',
    sourceId: workflow.id,
  });
  return { go: 'on' };
}

type StepConfig = Readonly<Record<string, unknown>>;

function findTemplate(scope: Scope, { templateId, template }: StepConfig) {
  const id = templateId ?? template;
  if (typeof id !== 'string') {
    return undefined;
  }
  const found = scope.project.templates.get(id);
  if (found === undefined) {
    throw new Error(`There is no template ${id}.`);
  }
  return found;
}

function contentOf(config: StepConfig): Record<string, unknown> {
  const names = ['subject', 'body', 'from', 'fromName', 'replyTo'];
  return Object.fromEntries(
    names.filter((name) => config[name] !== undefined).map((name) => [name, config[name]]),
  );
}

function waitForEvent({ eventName, timeout }: StepConfig): StepOutcome {
  if (typeof eventName !== 'string') {
    throw new Error('A WAIT_FOR_EVENT step needs `eventName`.');
  }
  const limit = timeout === undefined || timeout === null ? {} : { forMs: spanMs(timeout) };
  return { go: 'wait', forEvent: eventName, ...limit };
}

/** `'2d'`, milliseconds, or `{ amount, unit }`: the spelling of a time is not shown. */
function spanMs(span: unknown): number {
  if (typeof span === 'string' || typeof span === 'number') {
    return parseDuration(span);
  }
  const { amount, unit } = isRecord(span) ? span : {};
  const ms = typeof amount === 'number' ? amount * unitMs(unit) : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new Error("A time is written as '2d', as milliseconds or as { amount, unit: 'days' }.");
  }
  return ms;
}

/** messaging, Workflows: a CONDITION filters over contact and event fields. */
function holds({ scope, execution, contact }: Run, condition: unknown): boolean {
  const read = (field: string) =>
    contactField(contact, field) ?? dottedValue(execution.context, field);
  return meets(scope.world, read, condition);
}

/** The data of the event that is not stored; its names are not fields of the contact. */
function eventData({ context }: WorkflowExecution): Record<string, unknown> {
  const event = isRecord(context.event) ? context.event : {};
  return Object.fromEntries(Object.entries(event).filter(([field]) => field !== 'name'));
}

/** Calls the address of a WEBHOOK step through `settings.webhookFetch`, and records the call. */
function callWebhook(run: Run, config: Readonly<Record<string, unknown>>): StepOutcome {
  const call = describe(run, config);
  run.scope.project.webhooks.push(call);
  const { webhookFetch } = run.scope.world.settings;
  if (webhookFetch === undefined) {
    call.status = 200;
    return { go: 'on' };
  }
  return { go: 'call', call: () => perform(webhookFetch, call) };
}

function describe(run: Run, config: Readonly<Record<string, unknown>>): WebhookCall {
  const { url, method = 'POST', headers, body } = config;
  if (typeof url !== 'string') {
    throw new Error('A WEBHOOK step needs `url`.');
  }
  return {
    workflowId: run.workflow.id,
    executionId: run.execution.id,
    url,
    method: String(method),
    headers: { 'content-type': 'application/json', ...stringsOf(headers) },
    body: body ?? defaultBody(run),
    at: run.scope.world.clock.date().toISOString(),
  };
}

/** Payload of a webhook: not shown. */
function defaultBody({ workflow, execution, contact }: Run): unknown {
  const { id, email, subscribed, data } = contact;
  return structuredClone({
    workflowId: workflow.id,
    executionId: execution.id,
    contact: { id, email, subscribed, data },
    context: execution.context,
  });
}

async function perform(webhookFetch: typeof fetch, call: WebhookCall): Promise<void> {
  const { url, method, headers, body } = call;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const init = { method, headers, ...(hasBody && { body: JSON.stringify(body) }) };
  const response = await webhookFetch(url, init);
  call.status = response.status;
  // The document does not show the effect of a failed call: the execution ends.
  if (!response.ok) {
    throw new Error(`The webhook ${url} answered with ${response.status}.`);
  }
}

function stringsOf(headers: unknown): Record<string, string> {
  const entries = isRecord(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
