import {
  email,
  filled,
  oneOf,
  record,
  required,
  text,
  wrong,
  type FieldsOf,
  type Rule,
} from '../core/checks.js';
import { Refusal, type FieldError } from '../core/http.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { contactByEmail } from './contact-store.js';
import { matches, membersOf } from './filters.js';
import { deliver } from './outbox.js';
import { crud, findOwn, given, readBody, stamps, stateConflict } from './resource.js';
import type { Campaign, Contact, Project, Scope, SentEmail } from './state.js';
import { subject, verifiedEmail } from './templates.js';

const ofProject = ({ campaigns }: Project) => campaigns;

export const handlers: Handlers<Scope> = {
  ...crud<Campaign>({
    name: 'campaigns',
    style: 'cursor',
    of: ofProject,
    listed: view,
    checkUnused(_scope, campaign) {
      // messaging, Errors: 409 with active executions, which are those of a scheduled or sending one.
      if (isActiveCampaign(campaign)) {
        throw new Refusal(409, 'CONFLICT', cannot(campaign, 'deleted'));
      }
    },
  }),

  'POST /campaigns': (request, scope) => {
    const campaign = view(add(scope, readContent(scope, request)));
    const { id, name, subject: title, type, status, scheduledAt } = campaign;
    const data = { id, name, subject: title, type, status, scheduledAt };
    // messaging, Campaigns: the create response is shown in the envelope form.
    return { status: 201, body: { success: true, data } };
  },

  'PUT /campaigns/{id}': (request, scope) => {
    const campaign = findCampaign(scope, request);
    // Changes after emails were sent are not shown: the fake refuses them.
    refuseUnless(campaign, ['DRAFT', 'SCHEDULED'], 'replaced');
    const { id, status, scheduledAt, createdAt } = campaign;
    const content = draft(scope, readContent(scope, request));
    const replaced = { ...content, id, status, scheduledAt, createdAt };
    scope.project.campaigns.set(id, replaced);
    return { body: view(replaced) };
  },

  'POST /campaigns/{id}/duplicate': (request, scope) => {
    const original = findCampaign(scope, request);
    const copy = add(scope, { ...original, name: `${original.name} (copy)` });
    return { status: 201, body: view(copy) };
  },

  'POST /campaigns/{id}/send': (request, scope) => {
    const campaign = findCampaign(scope, request);
    const { scheduledFor } = readBody(request, { scheduledFor: dateTimeOrNull });
    refuseUnless(campaign, ['DRAFT', 'SCHEDULED'], 'sent');
    // messaging, States: omitted or null means immediately.
    if (typeof scheduledFor === 'string') {
      schedule(scope, campaign, Date.parse(scheduledFor));
    } else {
      startSending(scope, campaign);
    }
    return { body: view(campaign) };
  },

  'POST /campaigns/{id}/cancel': (request, scope) => {
    const campaign = findCampaign(scope, request);
    // messaging, States: from SCHEDULED or SENDING; canceling again has no effect.
    refuseUnless(campaign, ['SCHEDULED', 'SENDING', 'CANCELLED'], 'cancelled');
    campaign.status = 'CANCELLED';
    return { body: view(campaign) };
  },

  'POST /campaigns/{id}/test': (request, scope) => {
    const campaign = findCampaign(scope, request);
    const { email: to } = readBody(request, { email: required(email) });
    mailTo(scope, campaign, { contact: testContact(scope, to), source: 'test' });
    return { body: { success: true, message: `The test was sent to ${to}.` } };
  },

  'GET /campaigns/{id}/stats': (request, scope) => {
    const { id } = findCampaign(scope, request);
    return { body: statsByCampaign(scope.project).get(id) ?? noStats() };
  },
};

function findCampaign(scope: Scope, request: FakeRequest): Campaign {
  return findOwn(scope, ofProject, request.params.id);
}

function add(scope: Scope, content: CampaignContent): Campaign {
  const campaign = draft(scope, content);
  scope.project.campaigns.set(campaign.id, campaign);
  return campaign;
}

function refuseUnless(campaign: Campaign, states: readonly string[], verb: string): void {
  if (!states.includes(campaign.status)) {
    throw stateConflict(cannot(campaign, verb));
  }
}

const cannot = ({ status }: Campaign, verb: string) =>
  `A campaign that is ${status} cannot be ${verb}.`;

const dateTimeOrNull: Rule<string | null> = {
  check(value) {
    const isDateTime =
      typeof value === 'string' &&
      /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(value) &&
      !Number.isNaN(Date.parse(value));
    return value === null || isDateTime
      ? []
      : wrong('must be an ISO 8601 date-time.', 'invalid_format');
  },
};

/** A test email may go to any address; an address without a contact does not get one. */
function testContact(scope: Scope, address: string): Contact {
  const stranger = { id: 'test', email: address, subscribed: false, data: {}, ...stamps(scope) };
  return contactByEmail(scope, address) ?? stranger;
}

/** messaging, Campaign: what a caller sets, on create and with every PUT. */
type CampaignContent = Omit<Campaign, 'id' | 'status' | 'scheduledAt' | 'createdAt' | 'updatedAt'>;

/** messaging, Campaign table. */
const contentRules = ({ project }: Scope) => ({
  name: required(filled()),
  subject: required(subject),
  body: required(filled()),
  from: required(verifiedEmail(project)),
  description: text,
  fromName: text,
  replyTo: email,
  // Not in the table; kept, so that a template's usage can list campaigns.
  templateId: text,
  audienceType: required(oneOf('ALL', 'SEGMENT', 'FILTERED')),
  segmentId: text,
  audienceFilter: record,
});

/** Reads the body of a create or of a replacement. */
function readContent(scope: Scope, request: FakeRequest): CampaignContent {
  return readBody(request, contentRules(scope), (fields) => audienceErrors(scope, fields));
}

/** messaging, Campaign: `segmentId` for SEGMENT, `audienceFilter` for FILTERED. */
function audienceErrors(
  { project }: Scope,
  fields: Partial<FieldsOf<ReturnType<typeof contentRules>>>,
): FieldError[] {
  const { audienceType, segmentId, audienceFilter } = fields;
  const missing = { message: 'is required.', code: 'required' };
  if (audienceType === 'SEGMENT' && segmentId === undefined) {
    return [{ field: 'segmentId', ...missing }];
  }
  if (audienceType === 'SEGMENT' && !project.segments.has(segmentId ?? '')) {
    return [{ field: 'segmentId', message: 'There is no such segment.', code: 'not_found' }];
  }
  return audienceType === 'FILTERED' && audienceFilter === undefined
    ? [{ field: 'audienceFilter', ...missing }]
    : [];
}

/** A new campaign, in DRAFT. */
function draft(scope: Scope, content: CampaignContent): Campaign {
  return {
    // An index signature loses the names of what is omitted.
    ...(content as Campaign),
    id: scope.world.id('cam'),
    status: 'DRAFT',
    scheduledAt: null,
    ...stamps(scope),
  };
}

/** messaging, Campaign: `type` holds the audience type. */
function view(campaign: Campaign) {
  return { ...campaign, id: campaign.id, type: campaign.audienceType };
}

/** True while the campaign and its segment cannot be deleted. */
export function isActiveCampaign({ status }: Campaign): boolean {
  return status === 'SCHEDULED' || status === 'SENDING';
}

/** The throttle's values are not shown: this many emails are sent at once, the next ones a second later. */
const batchSize = 1000;
const betweenBatchesMs = 1000;

/** Schedules the sending; a time in the past means now (not shown). */
function schedule(scope: Scope, campaign: Campaign, at: number): void {
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

/** Sends the first emails at once; the campaign changes from SENDING to SENT a second after the last ones. */
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
  const { from, fromName, replyTo, body } = campaign;
  return deliver(scope, {
    to: contact,
    from,
    ...given({ fromName, replyTo }),
    subject: campaign.subject,
    body,
    variables: contact.data,
    source,
    sourceId: campaign.id,
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
