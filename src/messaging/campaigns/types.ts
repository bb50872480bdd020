import type { OpenRecord, Timestamp } from '../../core/values.js';
import type { FilterInput, StoredFilter } from '../shared/filter.js';
import type { ListQuery } from '../shared/query.js';

/** Who receives a campaign. */
export type AudienceType = 'ALL' | 'SEGMENT' | 'FILTERED';

/** The status of a campaign. The service does not document every value. */
export type CampaignStatus = 'DRAFT' | 'SCHEDULED' | 'SENDING' | (string & {});

/** One email to many contacts. The service does not document which fields it returns. */
export interface Campaign<Fields extends object = object> extends OpenRecord {
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
  audienceFilter?: StoredFilter<Fields> | null | undefined;
  /** ISO 8601. */
  scheduledAt?: string | null | undefined;
}

/** A campaign as `campaigns.create()` returns it. */
export interface CreatedCampaign<Fields extends object = object> extends Campaign<Fields> {
  /** The audience type. */
  type: AudienceType | (string & {});
  scheduledAt: string | null;
}

/** Fields of every campaign. */
export interface CampaignContent {
  name: string;
  description?: string | null | undefined;
  /** 1 to 998 characters, no line breaks. */
  subject: string;
  /** HTML. `{{plan}}` is filled in; `{{name ?? "default"}}` gives a default for a missing field. */
  body: string;
  /** The sender's address; its domain must be verified. */
  from: string;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
}

/**
 * A campaign to the contacts of the project. The service does not document whether
 * unsubscribed contacts are left out.
 */
export interface CampaignToAll extends CampaignContent {
  audienceType: 'ALL';
  segmentId?: null | undefined;
  audienceFilter?: null | undefined;
}

/** A campaign to the members of a segment. */
export interface CampaignToSegment extends CampaignContent {
  audienceType: 'SEGMENT';
  segmentId: string;
  audienceFilter?: null | undefined;
}

/** A campaign to the contacts that a filter selects. */
export interface CampaignToFiltered<Fields extends object = object> extends CampaignContent {
  audienceType: 'FILTERED';
  segmentId?: null | undefined;
  audienceFilter: FilterInput<Fields>;
}

/**
 * A whole campaign, to create or to replace one. A campaign that `get()` or `list()` returned will do:
 * its `id`, `status`, `type`, `scheduledAt`, `createdAt` and `updatedAt` are left out, and so are
 * fields that are `null`.
 */
export type CampaignCreate<Fields extends object = object> =
  CampaignToAll | CampaignToSegment | CampaignToFiltered<Fields> | Campaign<Fields>;

/** Which campaigns to list. The service does not document its fields. */
export interface CampaignQuery extends ListQuery {}

/** When to send a campaign. */
export interface CampaignSend {
  /**
   * When to send the campaign; a time more than 60 seconds ago is refused. Left out or `null`, it goes to
   * everybody now. `undefined` is refused: a variable that was never set would do the same unnoticed.
   */
  scheduledFor?: Timestamp | null;
}

/** Where to send a test of a campaign. */
export interface CampaignTest {
  email: string;
}

/** Counts of sends, opens, clicks and bounces. The service does not document its fields. */
export interface CampaignStats extends OpenRecord {}

/** A campaign as one contact would get it. */
export interface CampaignPreview<Fields extends object = object> {
  readonly campaign: Campaign<Fields>;
  readonly subject: string;
  /** HTML. */
  readonly body: string;
  /** Variables with neither a value nor a fallback. */
  readonly missing: readonly string[];
}
