import type { Call, ListOptions, RequestOptions, Paginated } from '../../core/types.js';
import type { MethodsFor } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Transport } from '../../core/send.js';
import { routes } from './routes.js';
import type { Member, MemberInvite, MemberQuery, MemberRoleUpdate } from './types.js';

/** The members of a project. */
export class ProjectMembers implements MethodsFor<typeof routes.members> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists members. `await` it for one page, `for await` it for every member. */
  list(id: string, query?: MemberQuery, options?: ListOptions): Paginated<Member> {
    return this.#transport.pages(routes.members.list, { params: { id }, query }, options);
  }

  /** Invites a person to a project. */
  invite(id: string, body: MemberInvite, options?: RequestOptions): Call<Member> {
    return this.#transport.send(routes.members.invite, { params: { id }, body }, options);
  }

  /** Changes the role of a member. */
  updateRole(
    id: string,
    userId: string,
    body: MemberRoleUpdate,
    options?: RequestOptions,
  ): Call<Member> {
    const params = { id, userId };
    return this.#transport.send(routes.members.updateRole, { params, body }, options);
  }

  /** Removes a member from a project. */
  remove(id: string, userId: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.members.remove, { params: { id, userId } }, options);
  }
}
