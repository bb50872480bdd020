import type { OpenRecord, Timestamp } from '../../contract/records.js';
import type { Filter } from '../shared/filter.js';
import type { ListQuery } from '../shared/query.js';

/** Whom a campaign goes to. */
export type AudienceType = 'ALL' | 'SEGMENT' | 'FILTERED';

/** How far a campaign is. The service's document does not show every value. */
export type CampaignStatus = 'DRAFT' | 'SCHEDULED' | 'SENDING' | (string & {});

/** An email to many contacts. The service's document does not show which fields it answers. */
export interface Campaign extends OpenRecord {
  id: string;
  name: string;
  subject: string;
  status: CampaignStatus;
  description?: string | null | undefined;
  /** HTML. */
  body?: string | undefined;
  from?: string | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  audienceType?: AudienceType | (string & {}) | undefined;
  segmentId?: string | null | undefined;
  audienceFilter?: Filter | null | undefined;
  /** ISO 8601. */
  scheduledAt?: string | null | undefined;
}

/** A campaign as `campaigns.create()` answers it. */
export interface CreatedCampaign extends Campaign {
  /** The audience type. */
  type: AudienceType | (string & {});
  scheduledAt: string | null;
}

/** What every campaign says, whomever it goes to. */
export interface CampaignContent {
  name: string;
  description?: string | undefined;
  /** 1 to 998 characters without a line break. */
  subject: string;
  /** HTML. `{{plan}}` is filled in; `{{name ?? "default"}}` says what stands for a missing field. */
  body: string;
  /** The sender's address; its domain must be verified. */
  from: string;
  fromName?: string | undefined;
  replyTo?: string | undefined;
}

/**
 * A campaign to the contacts of the project. The service's document does not say whether those who
 * have unsubscribed are left out.
 */
export interface CampaignToAll extends CampaignContent {
  audienceType: 'ALL';
  segmentId?: never;
  audienceFilter?: never;
}

/** A campaign to the members of a segment. */
export interface CampaignToSegment extends CampaignContent {
  audienceType: 'SEGMENT';
  segmentId: string;
  audienceFilter?: never;
}

/** A campaign to the contacts that a filter picks. */
export interface CampaignToFiltered extends CampaignContent {
  audienceType: 'FILTERED';
  segmentId?: never;
  audienceFilter: Filter;
}

/** A whole campaign, to make one or to put in the place of another. */
export type CampaignCreate = CampaignToAll | CampaignToSegment | CampaignToFiltered;

/** Which campaigns to list. The service's document does not show its fields. */
export interface CampaignQuery extends ListQuery {}

/** When to send a campaign. */
export interface CampaignSend {
  /**
   * When the campaign leaves; a time more than 60 seconds ago is refused. `null`, or leaving it
   * out, sends to everybody now: `undefined` is refused, since it would do the same unseen.
   */
  scheduledFor?: Timestamp | null;
}

/** Where a test of a campaign goes. */
export interface CampaignTest {
  email: string;
}

/** How often a campaign was sent, opened, clicked and bounced. The service's document does not show its fields. */
export interface CampaignStats extends OpenRecord {}
