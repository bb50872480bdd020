import { numberedPage, ofType, wholeList, route, type NamesOf } from '../core/call/route.js';
import type { Acknowledgement, OpenRecord } from '../core/values.js';
import type { Call, ListOptions, RequestOptions, Paginated } from '../core/types.js';
import type { Transport } from '../core/call/send.js';
import type { StoredData, TypedData } from './shared/data.js';
import type { FilterInput, StoredFilter } from './shared/filters.js';
import { toRequestBody } from './shared/request-body.js';
import { normalizeEmailsIn } from './shared/values.js';

export const routes = {
  list: route('GET /segments', { returns: wholeList<Segment>('segments') }),
  create: route('POST /segments', { body: ofType<SegmentCreate>(), returns: ofType<Segment>() }),
  get: route('GET /segments/{id}', { returns: ofType<CountedSegment>() }),
  update: route('PATCH /segments/{id}', {
    body: ofType<SegmentUpdate>(),
    returns: ofType<Segment>(),
  }),
  delete: route('DELETE /segments/{id}', { returns: ofType<Acknowledgement>() }),
  compute: route('POST /segments/{id}/compute', { returns: ofType<SegmentComputation>() }),
  refresh: route('POST /segments/{id}/refresh', {
    returns: ofType<SegmentRefresh>(),
    repeatable: true, // the service only recounts, and fires no events
  }),
  members: {
    list: route('GET /segments/{id}/contacts', {
      query: ofType<SegmentMemberQuery>(),
      returns: numberedPage<SegmentMember>('pageSize', 'contacts'),
    }),
    add: route('POST /segments/{id}/members', {
      body: ofType<SegmentMembersAdd>(),
      normalize: normalizeEmailsIn('emails'),
      returns: ofType<SegmentMembersChange>(),
      repeatable: true, // adding the same members twice has the same effect
    }),
    remove: route('DELETE /segments/{id}/members', {
      body: ofType<SegmentMembersRemove>(),
      normalize: normalizeEmailsIn('emails'),
      returns: ofType<SegmentMembersChange>(),
    }),
  },
};

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
 * A segment to create. You may pass a segment that a method returned: its `id`, `memberCount`, `createdAt`
 * and `updatedAt` are left out, and so are fields that are `null`.
 */
export type SegmentCreate<Fields extends object = object> =
  DynamicSegmentCreate<Fields> | StaticSegmentCreate | Segment<Fields>;

/**
 * Changes to a segment. You may pass a segment that a method returned: its `id`, `type`, `memberCount`,
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
  /** Whether created contacts are subscribed. The service does not document the default: set it. */
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

const answerOnly = ['id', 'memberCount', 'createdAt', 'updatedAt'];
// An update cannot change the type of a segment and cannot remove its condition.
const createBack = { answerOnly, dropNull: 'all' } as const;
const updateBack = { answerOnly: [...answerOnly, 'type'], dropNull: ['condition'] };

/**
 * Groups of contacts: selected by a condition (dynamic) or maintained by hand (static).
 * @example
 * const segment = await messaging.segments.create({
 *   type: 'DYNAMIC',
 *   name: 'New this month',
 *   condition: { field: 'createdAt', operator: 'within', value: 30, unit: 'days' },
 * });
 */
export class Segments<Fields extends object = object> implements NamesOf<typeof routes> {
  /** The contacts in a segment. */
  readonly members: SegmentMembers<Fields>;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.members = new SegmentMembers(transport);
  }

  /** Lists every segment; the service returns all of them in one response. */
  list(options?: ListOptions): Paginated<Segment<Fields>> {
    return this.#transport.pages(routes.list, {}, options) as Paginated<Segment<Fields>>; // as: typed for any fields
  }

  /** Creates a segment: a dynamic one with a condition, or a static one without a condition. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it makes the compiler name the property that is wrong
  create<Id extends string | undefined = undefined>(
    // A new segment has no `id`. The compiler then compares it with new ones only, and names the field that is wrong.
    body: SegmentCreate<Fields> & { id?: Id },
    options?: RequestOptions,
  ): Call<Segment<Fields>> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<SegmentCreate>(body, createBack) },
      options,
    ) as Call<Segment<Fields>>; // as: typed for any fields
  }

  /** Gets one segment by its id, with its cached count of members. */
  get(id: string, options?: RequestOptions): Call<CountedSegment<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<
      CountedSegment<Fields>
    >; // as: typed for any fields
  }

  /** Changes a segment. Fields that you leave out keep their values. */
  update(id: string, body: SegmentUpdate<Fields>, options?: RequestOptions): Call<Segment<Fields>> {
    return this.#transport.send(
      routes.update,
      { params: { id }, body: toRequestBody<SegmentUpdate>(body, updateBack) },
      options,
    ) as Call<Segment<Fields>>; // as: typed for any fields
  }

  /** Deletes a segment; a `ConflictError` while an active campaign uses it. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /** Recomputes the members of a tracked dynamic segment and fires entry and exit events. */
  compute(id: string, options?: RequestOptions): Call<SegmentComputation> {
    return this.#transport.send(routes.compute, { params: { id } }, options);
  }

  /** Recounts the members. Fires no events and changes no membership. */
  refresh(id: string, options?: RequestOptions): Call<SegmentRefresh> {
    return this.#transport.send(routes.refresh, { params: { id } }, options);
  }
}

/**
 * The contacts in a segment.
 * @example
 * await messaging.segments.members.add(id, { emails: ['ann@example.com'], createMissing: true });
 */
export class SegmentMembers<Fields extends object = object> implements NamesOf<
  typeof routes.members
> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Lists members; those of a dynamic segment are computed live. `await` it for one page, `for
   * await` it for every member.
   */
  list(
    id: string,
    query?: SegmentMemberQuery,
    options?: ListOptions,
  ): Paginated<SegmentMember<Fields>> {
    return this.#transport.pages(
      routes.members.list,
      { params: { id }, query },
      options,
    ) as Paginated<SegmentMember<Fields>>; // as: typed for any fields
  }

  /** Adds members to a static segment. */
  add(id: string, body: SegmentMembersAdd, options?: RequestOptions): Call<SegmentMembersChange> {
    return this.#transport.send(routes.members.add, { params: { id }, body }, options);
  }

  /** Removes members from a static segment. The contacts themselves stay. */
  remove(
    id: string,
    body: SegmentMembersRemove,
    options?: RequestOptions,
  ): Call<SegmentMembersChange> {
    return this.#transport.send(routes.members.remove, { params: { id }, body }, options);
  }
}
