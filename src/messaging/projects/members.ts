import type { Call, ListOptions, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Paginated } from '../../contract/paginated.js';
import type { Acknowledgement } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
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
