import type { Acknowledgement, FieldObject } from '../../core/values.js';
import { anyList, of, route, type KeyRule } from '../../core/route.js';
import type {
  BillingConsumption,
  BillingLimits,
  BillingPortal,
  BillingPortalCreate,
  CheckoutCreate,
  CheckoutSession,
  Invoice,
  InvoiceQuery,
  Member,
  MemberInvite,
  MemberQuery,
  MemberRoleUpdate,
  Project,
  ProjectCreate,
  ProjectKeys,
  ProjectQuery,
  ProjectReset,
  ProjectSecurityReport,
  ProjectSecurityState,
  ProjectSetupState,
  ProjectUpdate,
} from './types.js';

// Account routes; the document does not show which key they take.
const key: KeyRule = 'secret-or-session';

export const routes = {
  list: route('GET /users/@me/projects', {
    key,
    query: of<ProjectQuery>(),
    returns: anyList<Project>('projects'),
  }),
  create: route('POST /users/@me/projects', {
    key,
    body: of<ProjectCreate | Project>(),
    returns: of<Project>(),
  }),
  update: route('PATCH /users/@me/projects/{id}', {
    key,
    body: of<ProjectUpdate | Project>(),
    returns: of<Project>(),
  }),
  delete: route('DELETE /users/@me/projects/{id}', { key, returns: of<Acknowledgement>() }),
  regenerateKeys: route('POST /users/@me/projects/{id}/regenerate-keys', {
    key,
    takesOnce: false, // a journal is no place for keys
    returns: of<ProjectKeys>(),
  }),
  securityReport: route('GET /users/@me/projects/{id}/security', {
    key,
    returns: of<ProjectSecurityReport>(),
  }),
  reset: route('POST /users/@me/projects/{id}/reset', {
    key,
    body: of<ProjectReset | undefined>(),
    returns: of<Acknowledgement>(),
  }),
  setupState: route('GET /projects/{id}/setup-state', { key, returns: of<ProjectSetupState>() }),
  securityState: route('GET /projects/{id}/security', {
    key,
    returns: of<ProjectSecurityState>(),
  }),
  billing: {
    createCheckout: route('POST /users/@me/projects/{id}/checkout', {
      key,
      takesOnce: false, // its page expires
      body: of<CheckoutCreate | undefined>(),
      returns: of<CheckoutSession>(),
    }),
    createPortal: route('POST /users/@me/projects/{id}/billing-portal', {
      key,
      takesOnce: false, // the same
      body: of<BillingPortalCreate | undefined>(),
      returns: of<BillingPortal>(),
    }),
    getLimits: route('GET /users/@me/projects/{id}/billing-limits', {
      key,
      returns: of<BillingLimits>(),
    }),
    setLimits: route('PUT /users/@me/projects/{id}/billing-limits', {
      key,
      body: of<BillingLimits | FieldObject>(),
      returns: of<BillingLimits>(),
    }),
    consumption: route('GET /users/@me/projects/{id}/billing-consumption', {
      key,
      returns: of<BillingConsumption>(),
    }),
    invoices: route('GET /users/@me/projects/{id}/billing-invoices', {
      key,
      query: of<InvoiceQuery>(),
      returns: anyList<Invoice>('invoices'),
    }),
  },
  members: {
    list: route('GET /projects/{id}/members', {
      key,
      query: of<MemberQuery>(),
      returns: anyList<Member>('members'),
    }),
    invite: route('POST /projects/{id}/members', {
      key,
      body: of<MemberInvite>(),
      returns: of<Member>(),
    }),
    updateRole: route('PATCH /projects/{id}/members/{userId}', {
      key,
      body: of<MemberRoleUpdate>(),
      returns: of<Member>(),
    }),
    remove: route('DELETE /projects/{id}/members/{userId}', {
      key,
      returns: of<Acknowledgement>(),
    }),
  },
};
