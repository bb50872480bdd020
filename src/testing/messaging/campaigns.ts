import { Refusal } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { findOwn } from './find.js';
import { contactByEmail } from './contact-store.js';
import { listAnswer } from './lists.js';
import type { Campaign, Contact, Scope, SentEmail, Project } from './state.js';
import { readBody, type BodyFields, given } from './validate.js';
import { isVerifiedSender } from './domains.js';
import { checkSubject } from './templates.js';
import { deliver } from './outbox.js';
import { matches, membersOf } from './filters.js';

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
    return { body: { success: true, message: `The test was sent to ${email}.` } };
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

function readScheduledFor(fields: BodyFields): number | undefined {
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
  const at = scope.world.clock.date().toISOString();
  const stranger = { id: 'test', email, subscribed: false, data: {}, createdAt: at, updatedAt: at };
  return contactByEmail(scope, email) ?? stranger;
}

/** messaging, Campaign: what a caller sets, on create and with every PUT. */
type CampaignContent = Omit<Campaign, 'id' | 'status' | 'scheduledAt' | 'createdAt' | 'updatedAt'>;

/** Reads the body of a create or of a replacement, per the Campaign table. */
function readContent(scope: Scope, fields: BodyFields) {
  checkSubject(fields);
  return {
    name: fields.requiredText('name'),
    subject: fields.requiredText('subject'),
    body: fields.requiredText('body'),
    from: readFrom(scope, fields),
    ...given({
      description: fields.text('description'),
      fromName: fields.text('fromName'),
      replyTo: fields.email('replyTo'),
      // Not in the table; kept, so that a template's usage can list campaigns.
      templateId: fields.text('templateId'),
    }),
    ...readAudience(scope, fields),
  };
}

/** A new campaign, in DRAFT. */
export function draft({ world }: Scope, content: CampaignContent): Campaign {
  const at = world.clock.date().toISOString();
  return {
    // An index signature loses the names of what is omitted.
    ...(content as Campaign),
    id: world.id('cam'),
    status: 'DRAFT',
    scheduledAt: null,
    createdAt: at,
    updatedAt: at,
  };
}

/** messaging, Campaign: `type` holds the audience type. */
export function view(campaign: Campaign) {
  return { ...campaign, id: campaign.id, type: campaign.audienceType };
}

/** True while the campaign and its segment cannot be deleted. */
export function isActiveCampaign({ status }: Campaign): boolean {
  return status === 'SCHEDULED' || status === 'SENDING';
}

function readFrom({ project }: Scope, fields: BodyFields): string {
  const from = fields.requiredEmail('from');
  if (from !== '' && !isVerifiedSender(project, from)) {
    fields.add('from', '`from` must be on a verified domain.', 'unverified_domain');
  }
  return from;
}

/** messaging, Campaign: `segmentId` for SEGMENT, `audienceFilter` for FILTERED. */
function readAudience({ project }: Scope, fields: BodyFields) {
  const audienceType = fields.requiredOneOf('audienceType', ['ALL', 'SEGMENT', 'FILTERED']);
  const segmentId = fields.text('segmentId');
  const audienceFilter = fields.record('audienceFilter');
  if (audienceType === 'SEGMENT') {
    if (segmentId === undefined) {
      fields.requiredText('segmentId');
    } else if (!project.segments.has(segmentId)) {
      fields.add('segmentId', 'There is no such segment.', 'not_found');
    }
  }
  if (audienceType === 'FILTERED' && audienceFilter === undefined) {
    fields.add('audienceFilter', '`audienceFilter` is required.', 'required');
  }
  return { audienceType, ...given({ segmentId, audienceFilter }) };
}

/** The throttle's values are not shown: so many mails at once, the next ones a second later. */
const batchSize = 1000;
const betweenBatchesMs = 1000;

/** Sends at a time of the clock; a time that is over means now (not shown). */
export function schedule(scope: Scope, campaign: Campaign, at: number): void {
  const scheduledAt = new Date(at).toISOString();
  campaign.status = 'SCHEDULED';
  campaign.scheduledAt = scheduledAt;
  scope.world.clock.after(Math.max(0, at - scope.world.clock.now()), () => {
    const current = scope.project.campaigns.get(campaign.id);
    if (current?.status !== 'SCHEDULED' || current.scheduledAt !== scheduledAt) {
      return;
    }
    startSending(scope, current);
  });
}

/** SENDING with the first mails out at once, and SENT a second after the last ones. */
function startSending(scope: Scope, campaign: Campaign): void {
  campaign.status = 'SENDING';
  sendBatch(scope, campaign, audienceOf(scope, campaign));
}

/** Mails a campaign to one contact. */
function mailTo(
  scope: Scope,
  campaign: Campaign,
  { contact, source }: { readonly contact: Contact; readonly source: 'campaign' | 'test' },
): SentEmail {
  const { id, from, fromName, replyTo, subject, body } = campaign;
  return deliver(scope, {
    to: contact,
    from,
    ...(fromName !== undefined && { fromName }),
    ...(replyTo !== undefined && { replyTo }),
    subject,
    body,
    variables: contact.data,
    source,
    sourceId: id,
  });
}

function sendBatch(scope: Scope, campaign: Campaign, recipients: readonly Contact[]): void {
  for (const contact of recipients.slice(0, batchSize)) {
    // Skip contacts that were deleted or have unsubscribed since the start.
    if (!contact.subscribed || !scope.project.contacts.has(contact.id)) {
      continue;
    }
    mailTo(scope, campaign, { contact, source: 'campaign' });
  }
  const rest = recipients.slice(batchSize);
  scope.world.clock.after(betweenBatchesMs, () => {
    // A cancelled campaign sends no more.
    if (campaign.status !== 'SENDING') {
      return;
    }
    if (rest.length > 0) {
      sendBatch(scope, campaign, rest);
    } else {
      campaign.status = 'SENT';
    }
  });
}

/** The audience of a campaign, without unsubscribed contacts (not shown by the document). */
function audienceOf(scope: Scope, campaign: Campaign): Contact[] {
  return contactsOf(scope, campaign).filter(({ subscribed }) => subscribed);
}

function contactsOf(scope: Scope, { audienceType, segmentId, audienceFilter }: Campaign) {
  const { contacts, segments } = scope.project;
  if (audienceType === 'ALL') {
    return [...contacts.values()];
  }
  if (audienceType === 'FILTERED') {
    return [...contacts.values()].filter((contact) => matches(scope, contact, audienceFilter));
  }
  const segment = segments.get(segmentId ?? '');
  return segment === undefined ? [] : membersOf(scope, segment);
}

/** messaging, Campaign: send, open, click and bounce counts; the field names are not shown. */
export interface Stats {
  sent: number;
  opened: number;
  clicked: number;
  bounced: number;
}

export function noStats(): Stats {
  return { sent: 0, opened: 0, clicked: 0, bounced: 0 };
}

/** The counts of every campaign that has sent anything; test mails do not count. */
export function statsByCampaign({ outbox }: Project): Map<string, Stats> {
  const all = new Map<string, Stats>();
  for (const { source, sourceId, openedAt, clickedAt, bouncedAt } of outbox) {
    if (source !== 'campaign' || sourceId === undefined) {
      continue;
    }
    const stats = all.get(sourceId) ?? noStats();
    all.set(sourceId, stats);
    stats.sent += 1;
    stats.opened += Number(openedAt !== undefined);
    stats.clicked += Number(clickedAt !== undefined);
    stats.bounced += Number(bouncedAt !== undefined);
  }
  return all;
}
