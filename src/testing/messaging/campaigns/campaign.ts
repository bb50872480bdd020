import { isVerifiedSender } from '../domains/senders.js';
import type { Campaign, Scope } from '../state.js';
import { checkSubject } from '../templates/subject.js';
import { given, type Fields } from '../validate.js';

/** messaging, Campaign: what a caller sets, on create and with every PUT. */
export type CampaignContent = Omit<
  Campaign,
  'id' | 'status' | 'scheduledAt' | 'createdAt' | 'updatedAt'
>;

/** Reads the body of a create or of a replacement, per the Campaign table. */
export function readContent(scope: Scope, fields: Fields) {
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
  const at = world.clock.date();
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

/** What keeps a campaign and its segment from being deleted. */
export function isActiveCampaign({ status }: Campaign): boolean {
  return status === 'SCHEDULED' || status === 'SENDING';
}

function readFrom({ project }: Scope, fields: Fields): string {
  const from = fields.requiredEmail('from');
  if (from !== '' && !isVerifiedSender(project, from)) {
    fields.add('from', '`from` must be on a verified domain.', 'unverified_domain');
  }
  return from;
}

/** messaging, Campaign: `segmentId` for SEGMENT, `audienceFilter` for FILTERED. */
function readAudience({ project }: Scope, fields: Fields) {
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
