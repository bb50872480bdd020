import type { OpenRecord } from '../../contract/records.js';
import type { StoredData } from '../shared/data.js';
import type { Filter } from '../shared/filter.js';

/** A group of contacts. The service's document does not show all its fields. */
export interface Segment extends OpenRecord {
  id: string;
  type: 'DYNAMIC' | 'STATIC' | (string & {});
  name: string;
  description?: string | null | undefined;
  /** Whom a dynamic segment picks. */
  condition?: Filter | null | undefined;
  /** Does `segments.compute()` fire entry and exit events? */
  trackMembership?: boolean | undefined;
}

/** A segment as `segments.get()` answers it. */
export interface CountedSegment extends Segment {
  /** The cached count; `segments.refresh()` brings it up to date. */
  memberCount: number;
}

/** What every segment says, whichever way it gets its members. */
export interface SegmentContent {
  name?: string | undefined;
  description?: string | undefined;
  /** Makes `segments.compute()` fire entry and exit events of a dynamic segment. */
  trackMembership?: boolean | undefined;
}

/** A segment whose members are picked by a condition. */
export interface DynamicSegmentCreate extends SegmentContent {
  type: 'DYNAMIC';
  condition: Filter;
}

/** A segment whose members are added and removed by hand. */
export interface StaticSegmentCreate extends SegmentContent {
  type: 'STATIC';
  condition?: never;
}

/** A segment to make. */
export type SegmentCreate = DynamicSegmentCreate | StaticSegmentCreate;

/** What to change about a segment. */
export interface SegmentUpdate extends SegmentContent {
  /** For dynamic segments only. */
  condition?: Filter | undefined;
}

/** A contact in a segment. */
export interface SegmentMember extends OpenRecord {
  id: string;
  email: string;
  subscribed: boolean;
  /** Custom fields; `null` when the contact has none. */
  data: StoredData | null;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt: string;
}

/** Which members to list. */
export interface SegmentMemberQuery {
  page?: number | undefined;
  /**
   * How many members a page holds, 1 to 100.
   * @default the service's own when awaited, 100 when iterated
   */
  pageSize?: number | undefined;
  /** Where to go on: the `cursor` of a page or an iterator, in place of `page`. */
  cursor?: string | undefined;
}

/** Members to add. */
export interface SegmentMembersAdd {
  emails: readonly string[];
  /** Makes contacts for emails that have none. */
  createMissing?: boolean | undefined;
  subscribed?: boolean | undefined;
}

/** Members to remove. The contacts stay. */
export interface SegmentMembersRemove {
  emails: readonly string[];
}

/** What became of the members. The service's document does not show its fields. */
export interface SegmentMembersChange extends OpenRecord {}

/** What a computation changed. The service's document does not show its fields. */
export interface SegmentComputation extends OpenRecord {}

/** What a new count says. The service's document does not show its fields. */
export interface SegmentRefresh extends OpenRecord {}
