import { addActivity } from './record.js';
import type { Contact, Scope, SentEmail } from './state.js';

/** An email before it is rendered for its recipient. */
export interface Mail {
  readonly to: Contact;
  readonly toName?: string;
  readonly from: string;
  readonly fromName?: string;
  readonly replyTo?: string;
  readonly subject: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly unknown[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly source: SentEmail['source'];
  /** The template, campaign or workflow that it comes from. */
  readonly sourceId?: string;
}

/** Renders an email for its contact and puts it into the outbox of the project and of the world. */
export function deliver(scope: Scope, { to, ...mail }: Mail): SentEmail {
  const { world, project } = scope;
  const variables = { ...mail.variables, ...suppliedVariables(to) };
  const email: SentEmail = {
    headers: {},
    attachments: [],
    ...mail,
    id: world.id('eml'),
    projectId: project.id,
    contactId: to.id,
    to: to.email,
    subject: render(mail.subject, variables),
    body: render(mail.body, variables),
    variables,
    sentAt: world.clock.date().toISOString(),
  };
  project.outbox.push(email);
  world.outbox.push(email);
  addActivity(scope, { type: 'email.sent', contactId: to.id, emailId: email.id });
  return email;
}

/** messaging, Custom fields 5: the reserved keys are what the service itself supplies. */
function suppliedVariables({ id, email }: Contact): Record<string, string> {
  const page = (name: string) => `https://contacts.messaging.fake/${name}/${id}`;
  return {
    id,
    email,
    svc_id: id,
    svc_email: email,
    unsubscribeUrl: page('unsubscribe'),
    subscribeUrl: page('subscribe'),
    manageUrl: page('manage'),
  };
}

/**
 * Fills `{{plan}}`, `{{name ?? "default"}}` and `{{profile.tier}}` (messaging, Custom fields 7).
 * A field that is missing or null, without a default, becomes an empty text (not shown). Blocks and filters
 * of other template languages, such as `{{#if plan}}` and `{{name | upper}}`, are not variables: they stay.
 */
export function render(text: string, variables: Readonly<Record<string, unknown>>): string {
  return text.replace(variable, (_match, path: string, double?: string, single?: string) =>
    show(valueAt(variables, path) ?? double ?? single ?? ''),
  );
}

const variable =
  /{{\s*((?![#/^>!&@])[^\s{}?|]+(?: +[^\s{}?|]+)*)\s*(?:\?\?\s*(?:"([^"]*)"|'([^']*)')\s*)?}}/g;

/** A key with a dot in its name wins over a nested field. */
function valueAt(variables: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(variables, path)) {
    return variables[path];
  }
  let value: unknown = variables;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = Reflect.get(value, key);
  }
  return value;
}

/** Converts a value to text; an object or a list becomes JSON. */
function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
