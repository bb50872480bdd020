import { anyList, ofType, route, type MethodsFor } from '../core/call/route.js';
import type { Acknowledgement, OpenInput, OpenRecord } from '../core/values.js';
import type { Call, ListOptions, RequestOptions, Paginated } from '../core/types.js';
import { waitForRecord, type RecordWaitOptions, type StatusChecks } from '../core/wait.js';
import type { Transport } from '../core/call/send.js';
import type { ListQuery } from './shared/values.js';
import { toRequestBody } from './shared/request-body.js';

export const routes = {
  list: route('GET /domains/project/{projectId}', {
    query: ofType<DomainQuery>(),
    returns: anyList<Domain>('domains'),
  }),
  create: route('POST /domains', {
    body: ofType<DomainCreate | Domain>(),
    returns: ofType<Domain>(),
  }),
  // A GET with an effect: it starts the check early that the service runs every 5 minutes anyway.
  verify: route('GET /domains/{id}/verify', { returns: ofType<DomainVerification>() }),
  delete: route('DELETE /domains/{id}', { returns: ofType<Acknowledgement>() }),
};

/** A domain to send from. The service does not document its fields. */
export interface Domain extends OpenRecord {
  id: string;
}

/**
 * A domain to add. The service does not document these names. You may pass a domain that a method returned:
 * its `id` is left out.
 */
export interface DomainCreate extends OpenInput {
  domain?: string | undefined;
  /** @default the project of the key */
  projectId?: string | undefined;
}

/** Which domains to list. */
export interface DomainQuery extends ListQuery {}

/** The result of a check. The service does not document its fields. */
export interface DomainVerification extends OpenRecord {}

const fastestCheckMs = 30_000;
const verifiedWait = {
  kind: 'Domain',
  timeout: 3_600_000,
  interval: 60_000,
  minInterval: fastestCheckMs,
  isDone: (status: string | undefined, record: DomainVerification) =>
    status?.toLowerCase() === 'verified' || record['verified'] === true,
};

const back = { answerOnly: ['id', 'createdAt', 'updatedAt'], dropUnset: ['domain', 'projectId'] };

/**
 * The sender domains of a project.
 * @example
 * const domain = await messaging.domains.create({ projectId: 'prj_1', domain: 'example.com' });
 * console.log('Add these DNS records:', domain);
 */
export class Domains implements MethodsFor<typeof routes> {
  readonly #transport: Transport;

  readonly #checks: StatusChecks;

  constructor(transport: Transport, checks: StatusChecks) {
    this.#transport = transport;
    this.#checks = checks;
  }

  /** Lists the domains of a project, verified and pending. */
  list(projectId: string, query?: DomainQuery, options?: ListOptions): Paginated<Domain> {
    return this.#transport.pages(routes.list, { params: { projectId }, query }, options);
  }

  /** Adds a domain and returns the DNS records to add. */
  create(body: DomainCreate | Domain, options?: RequestOptions): Call<Domain> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<DomainCreate>(body, back) },
      options,
    );
  }

  /** Checks the DNS records of a domain now; the service also checks every 5 minutes. */
  verify(id: string, options?: RequestOptions): Call<DomainVerification> {
    return this.#transport.send(routes.verify, { params: { id } }, options);
  }

  /**
   * Waits until a domain is verified, and resolves with the last check. By default it checks every 60 s for an
   * hour; the shortest interval is 30 s. DNS changes take time, and the service itself checks every 5 minutes. If
   * your service has another word than `verified`, pass `isDone`.
   */
  waitUntilVerified(
    id: string,
    options?: RecordWaitOptions<DomainVerification>,
  ): Promise<DomainVerification> {
    const check = (signal: AbortSignal | undefined) => this.verify(id, { signal, retries: 0 });
    const plan = { ...verifiedWait, id, check, checks: this.#checks };
    return waitForRecord<DomainVerification>(plan, options);
  }

  /** Removes a domain. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }
}
