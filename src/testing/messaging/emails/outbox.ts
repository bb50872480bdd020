import { addActivity } from '../activity/feed.js';
import type { Contact, Scope, SentEmail } from '../state.js';
import { render } from './render.js';

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
    sentAt: world.clock.date(),
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
