import type { Call, RequestOptions } from '../../contract/call.js';
import type { MethodsFor } from '../../contract/methods.js';
import type { Paginated } from '../../contract/paginated.js';
import type { Acknowledgement } from '../../contract/records.js';
import type { Transport } from '../../transport/transport.js';
import { writable } from '../shared/write-back.js';
import { routes } from './routes.js';
import type { Domain, DomainCreate, DomainQuery, DomainVerification } from './types.js';

const back = { answerOnly: ['id', 'createdAt', 'updatedAt'] };

/**
 * The sender domains of a project.
 * @example
 * const domain = await messaging.domains.create({ projectId: 'prj_1', domain: 'example.com' });
 * console.log('Add these DNS records:', domain);
 */
export class Domains implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the domains of a project, verified and pending. */
  list(projectId: string, query?: DomainQuery, options?: RequestOptions): Paginated<Domain> {
    return this.#transport.pages(routes.list, { params: { projectId }, query }, options);
  }

  /** Adds a domain and returns the DNS records to add. */
  create(body: DomainCreate | Domain, options?: RequestOptions): Call<Domain> {
    return this.#transport.send(
      routes.create,
      { body: writable<DomainCreate>(body, back) },
      options,
    );
  }

  /** Checks the DNS records of a domain now; the service also checks every 5 minutes. */
  verify(id: string, options?: RequestOptions): Call<DomainVerification> {
    return this.#transport.send(routes.verify, { params: { id } }, options);
  }

  /** Removes a domain. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }
}
