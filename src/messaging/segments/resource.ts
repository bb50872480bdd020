import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { toRequestBody } from '../shared/request-body.js';
import { SegmentMembers } from './members.js';
import { routes } from './routes.js';
import type {
  CountedSegment,
  Segment,
  SegmentComputation,
  SegmentCreate,
  SegmentRefresh,
  SegmentUpdate,
} from './types.js';

const answerOnly = ['id', 'memberCount', 'createdAt', 'updatedAt'];
// A segment's type never changes, and no condition can be taken away.
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

  /** Lists every segment; the service returns them all in one answer. */
  list(options?: ListOptions): Paginated<Segment<Fields>> {
    return this.#transport.pages(routes.list, {}, options) as Paginated<Segment<Fields>>; // for any fields
  }

  /** Creates a segment: a dynamic one with its condition, a static one without. */
  create(body: SegmentCreate<Fields>, options?: RequestOptions): Call<Segment<Fields>> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<SegmentCreate>(body, createBack) },
      options,
    ) as Call<Segment<Fields>>; // for any fields
  }

  /** Gets one segment by its id, with its cached count of members. */
  get(id: string, options?: RequestOptions): Call<CountedSegment<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<
      CountedSegment<Fields>
    >; // for any fields
  }

  /** Changes a segment. Fields that you leave out keep their values. */
  update(id: string, body: SegmentUpdate<Fields>, options?: RequestOptions): Call<Segment<Fields>> {
    return this.#transport.send(
      routes.update,
      { params: { id }, body: toRequestBody<SegmentUpdate>(body, updateBack) },
      options,
    ) as Call<Segment<Fields>>; // for any fields
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
