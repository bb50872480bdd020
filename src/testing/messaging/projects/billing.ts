import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../../core/types.js';
import type { Scope, SentEmail } from '../state.js';
import { isRecord } from '../validate.js';

/** The bodies of these endpoints are not shown. */
export const billingHandlers: Handlers<Scope> = {
  'POST /users/@me/projects/{id}/checkout': (_request, scope) => ({
    body: { url: `https://payments.messaging.fake/checkout/${scope.world.id('session')}` },
  }),
  'POST /users/@me/projects/{id}/billing-portal': (_request, scope) => ({
    body: { url: `https://payments.messaging.fake/portal/${scope.world.id('session')}` },
  }),
  'GET /users/@me/projects/{id}/billing-limits': (_request, { project }) => ({
    body: project.billingLimits,
  }),
  'PUT /users/@me/projects/{id}/billing-limits': setLimits,
  'GET /users/@me/projects/{id}/billing-consumption': consumption,
  'GET /users/@me/projects/{id}/billing-invoices': () => ({ body: [] }),
};

/** messaging, Account: per-category caps; PUT replaces them all. */
function setLimits(request: FakeRequest, { project }: Scope): FakeAnswer {
  if (!isRecord(request.body)) {
    throw new Refusal(400, 'BAD_REQUEST', 'The body must be a JSON object.');
  }
  for (const category of Object.keys(project.billingLimits)) {
    Reflect.deleteProperty(project.billingLimits, category);
  }
  Object.assign(project.billingLimits, request.body);
  return { body: project.billingLimits };
}

/** The current period is the calendar month. */
function consumption(_request: FakeRequest, { world, project }: Scope): FakeAnswer {
  const month = world.clock.date().slice(0, '2026-01'.length);
  const count = (source: SentEmail['source']) =>
    project.outbox.filter((email) => email.source === source && email.sentAt.startsWith(month))
      .length;
  const used = { send: count('send'), campaign: count('campaign'), workflow: count('workflow') };
  return { body: { period: month, ...used } };
}
