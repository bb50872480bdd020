import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type {
  SegmentMember,
  SegmentMemberQuery,
  SegmentMembersAdd,
  SegmentMembersChange,
  SegmentMembersRemove,
} from './types.js';

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
    ) as Paginated<SegmentMember<Fields>>; // for any fields
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
