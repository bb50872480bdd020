import { anyList, of, route } from '../../core/route.js';
import type { Acknowledgement } from '../../core/values.js';
import type { Domain, DomainCreate, DomainQuery, DomainVerification } from './types.js';

export const routes = {
  list: route('GET /domains/project/{projectId}', {
    query: of<DomainQuery>(),
    returns: anyList<Domain>('domains'),
  }),
  create: route('POST /domains', { body: of<DomainCreate | Domain>(), returns: of<Domain>() }),
  // A GET that acts: it only brings forward the check that runs every 5 minutes anyway.
  verify: route('GET /domains/{id}/verify', { returns: of<DomainVerification>() }),
  delete: route('DELETE /domains/{id}', { returns: of<Acknowledgement>() }),
};
