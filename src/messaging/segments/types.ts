import type { OpenRecord } from '../../core/values.js';
import type { StoredData, TypedData } from '../shared/data.js';
import type { FilterInput, StoredFilter } from '../shared/filter.js';

/** A group of contacts. The service does not document all of its fields. */
export interface Segment<Fields extends object = object> extends OpenRecord {
  id: string;
  type: 'DYNAMIC' | 'STATIC' | (string & {});
  name: string;
  description?: string | null | undefined;
  /** Which contacts belong to a dynamic segment. */
  condition?: StoredFilter<Fields> | null | undefined;
  /** Whether `segments.compute()` fires entry and exit events. */
  trackMembership?: boolean | undefined;
}

/** A segment as `segments.get()` returns it. */
export interface CountedSegment<Fields extends object = object> extends Segment<Fields> {
  /** The cached count; `segments.refresh()` brings it up to date. */
  memberCount: number;
}

/** Fields of every segment. */
interface SegmentContent {
  name?: string | undefined;
  description?: string | null | undefined;
  /** Makes `segments.compute()` fire entry and exit events for a dynamic segment. */
  trackMembership?: boolean | undefined;
}

/** A segment whose members are selected by a condition. */
export interface DynamicSegmentCreate<Fields extends object = object> extends SegmentContent {
  type: 'DYNAMIC';
  condition: FilterInput<Fields>;
}

/** A segment whose members are added and removed by hand. */
export interface StaticSegmentCreate extends SegmentContent {
  type: 'STATIC';
  condition?: null | undefined;
}

/**
 * A segment to create. A segment that a method returned will do: its `id`, `memberCount`, `createdAt`
 * and `updatedAt` are left out, and so are fields that are `null`.
 */
export type SegmentCreate<Fields extends object = object> =
  DynamicSegmentCreate<Fields> | StaticSegmentCreate | Segment<Fields>;

/**
 * Changes to a segment. A segment that a method returned will do: its `id`, `type`, `memberCount`,
 * `createdAt` and `updatedAt` are left out, and so is a `condition` that is `null`.
 */
export interface SegmentUpdate<Fields extends object = object> extends SegmentContent {
  /** For dynamic segments only. */
  condition?: FilterInput<Fields> | null | undefined;
}

/** A contact in a segment. */
export interface SegmentMember<Fields extends object = object> extends OpenRecord {
  id: string;
  email: string;
  subscribed: boolean;
  /** Custom fields; `null` when the contact has none. */
  data: (keyof Fields extends never ? StoredData : TypedData<Fields>) | null;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** ISO 8601. */
  updatedAt?: string | undefined;
}

/** Which members to list. */
export interface SegmentMemberQuery {
  page?: number | undefined;
  /**
   * Members per page, 1 to 100.
   * @default the service's default when awaited, 100 when iterated
   */
  pageSize?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator, instead of `page`. */
  cursor?: string | undefined;
}

/** Members to add. */
export interface SegmentMembersAdd {
  emails: readonly string[];
  /** Creates contacts for emails that have none. */
  createMissing?: boolean | undefined;
  /** Whether contacts that are created are subscribed. The service does not document the default: set it. */
  subscribed?: boolean | undefined;
}

/** Members to remove. The contacts themselves stay. */
export interface SegmentMembersRemove {
  emails: readonly string[];
}

/** The result of adding or removing members. The service does not document its fields. */
export interface SegmentMembersChange extends OpenRecord {}

/** The result of a computation. The service does not document its fields. */
export interface SegmentComputation extends OpenRecord {}

/** The result of a recount. The service does not document its fields. */
export interface SegmentRefresh extends OpenRecord {}
