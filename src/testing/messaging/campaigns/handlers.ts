import { Refusal } from '../../core/http/refusal.js';
import type { FakeRequest, Handlers } from '../../core/types.js';
import { findOwn } from '../find.js';
import { contactByEmail } from '../contacts/store.js';
import { listAnswer } from '../lists.js';
import type { Campaign, Contact, Scope } from '../state.js';
import { readBody, type Fields } from '../validate.js';
import { draft, isActiveCampaign, readContent, view } from './campaign.js';
import { mailTo, schedule, startSending } from './sending.js';
import { noStats, statsByCampaign } from './stats.js';

export const handlers: Handlers<Scope> = {
  'GET /campaigns': (request, scope) => {
    const items = [...scope.project.campaigns.values()].map(view);
    return listAnswer(scope, request, { items, name: 'campaigns', style: 'cursor' });
  },

  'POST /campaigns': (request, scope) => {
    const content = readBody(request, (fields) => readContent(scope, fields));
    const { id, name, subject, type, status, scheduledAt } = view(add(scope, content));
    const data = { id, name, subject, type, status, scheduledAt };
    // messaging, Campaigns: the create response is shown in the envelope form.
    return { status: 201, body: { success: true, data } };
  },

  'GET /campaigns/{id}': (request, scope) => ({ body: view(findCampaign(scope, request)) }),
  'PUT /campaigns/{id}': replace,
  'DELETE /campaigns/{id}': remove,

  'POST /campaigns/{id}/duplicate': (request, scope) => {
    const original = findCampaign(scope, request);
    const copy = add(scope, { ...original, name: `${original.name} (copy)` });
    return { status: 201, body: view(copy) };
  },

  'POST /campaigns/{id}/send': send,
  'POST /campaigns/{id}/cancel': cancel,

  'POST /campaigns/{id}/test': (request, scope) => {
    const campaign = findCampaign(scope, request);
    const email = readBody(request, (fields) => fields.requiredEmail('email'));
    mailTo(scope, campaign, { contact: testContact(scope, email), source: 'test' });
    return { body: { success: true } };
  },

  'GET /campaigns/{id}/stats': (request, scope) => {
    const { id } = findCampaign(scope, request);
    return { body: statsByCampaign(scope.project).get(id) ?? noStats() };
  },
};

type Handler = Handlers<Scope>[string];

function replace(...[request, scope]: Parameters<Handler>) {
  const campaign = findCampaign(scope, request);
  // Changes once mails are out are not shown: refused.
  refuseUnless(campaign, ['DRAFT', 'SCHEDULED'], 'replaced');
  const content = readBody(request, (fields) => readContent(scope, fields));
  const { id, status, scheduledAt, createdAt } = campaign;
  const replaced = { ...draft(scope, content), id, status, scheduledAt, createdAt };
  scope.project.campaigns.set(id, replaced);
  return { body: view(replaced) };
}

function remove(...[request, scope]: Parameters<Handler>) {
  const campaign = findCampaign(scope, request);
  // messaging, Errors: 409 with active executions, which are those of a scheduled or sending one.
  if (isActiveCampaign(campaign)) {
    refuse(campaign, 'deleted');
  }
  scope.project.campaigns.delete(campaign.id);
  return { status: 204 };
}

function send(...[request, scope]: Parameters<Handler>) {
  const campaign = findCampaign(scope, request);
  const at = readBody(request, readScheduledFor);
  refuseUnless(campaign, ['DRAFT', 'SCHEDULED'], 'sent');
  // messaging, States: omitted or null means immediately.
  if (at === undefined) {
    startSending(scope, campaign);
  } else {
    schedule(scope, campaign, at);
  }
  return { body: view(campaign) };
}

function cancel(...[request, scope]: Parameters<Handler>) {
  const campaign = findCampaign(scope, request);
  // messaging, States: from SCHEDULED or SENDING; to cancel twice changes nothing.
  refuseUnless(campaign, ['SCHEDULED', 'SENDING', 'CANCELLED'], 'cancelled');
  campaign.status = 'CANCELLED';
  return { body: view(campaign) };
}

function findCampaign(scope: Scope, request: FakeRequest): Campaign {
  return findOwn(scope, (project) => project.campaigns, request.params.id ?? '');
}

function add(scope: Scope, content: Parameters<typeof draft>[1]): Campaign {
  const campaign = draft(scope, content);
  scope.project.campaigns.set(campaign.id, campaign);
  return campaign;
}

function refuseUnless(campaign: Campaign, states: readonly string[], verb: string): void {
  if (!states.includes(campaign.status)) {
    refuse(campaign, verb);
  }
}

function refuse(campaign: Campaign, verb: string): never {
  // Of these the document names only the deletion.
  const [status, code] =
    verb === 'deleted' ? ([409, 'CONFLICT'] as const) : ([400, 'STATE_CONFLICT'] as const);
  throw new Refusal(status, code, `A campaign that is ${campaign.status} cannot be ${verb}.`);
}

function readScheduledFor(fields: Fields): number | undefined {
  if (fields.raw('scheduledFor') === null) {
    return undefined;
  }
  const text = fields.text('scheduledFor');
  if (text === undefined) {
    return undefined;
  }
  const isDateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && !Number.isNaN(Date.parse(text));
  if (!isDateTime) {
    fields.add('scheduledFor', '`scheduledFor` must be an ISO 8601 date-time.', 'invalid_format');
  }
  return Date.parse(text);
}

/** A test goes to any address; one that is no contact does not become one. */
function testContact(scope: Scope, email: string): Contact {
  const at = scope.world.clock.date();
  const stranger = { id: 'test', email, subscribed: false, data: {}, createdAt: at, updatedAt: at };
  return contactByEmail(scope, email) ?? stranger;
}
