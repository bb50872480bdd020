import {
  type Acknowledgement,
  type FieldObject,
  type OpenInput,
  type OpenRecord,
  isRecord,
} from '../core/values.js';
import { anyList, ofType, route, type KeyRule, type MethodsFor } from '../core/call/route.js';
import type { RequestOptions, Call, ListOptions, Paginated } from '../core/types.js';
import { invalidRequest, type InvalidRequestError } from '../core/errors.js';
import { flag } from '../core/options.js';
import type { Transport } from '../core/call/send.js';
import { normalizeEmailsIn, type ListQuery } from './shared/values.js';
import { toRequestBody } from './shared/request-body.js';

// Account routes; the document does not show which key they take.
const key: KeyRule = 'secret-or-session';

export const routes = {
  list: route('GET /users/@me/projects', {
    key,
    query: ofType<ProjectQuery>(),
    returns: anyList<Project>('projects'),
  }),
  create: route('POST /users/@me/projects', {
    key,
    body: ofType<ProjectCreate | Project>(),
    returns: ofType<Project>(),
  }),
  update: route('PATCH /users/@me/projects/{id}', {
    key,
    body: ofType<ProjectUpdate | Project>(),
    returns: ofType<Project>(),
  }),
  delete: route('DELETE /users/@me/projects/{id}', { key, returns: ofType<Acknowledgement>() }),
  regenerateKeys: route('POST /users/@me/projects/{id}/regenerate-keys', {
    key,
    takesOnce: false, // keys must not be stored in a journal
    returns: ofType<ProjectKeys>(),
  }),
  securityReport: route('GET /users/@me/projects/{id}/security', {
    key,
    returns: ofType<ProjectSecurityReport>(),
  }),
  reset: route('POST /users/@me/projects/{id}/reset', {
    key,
    body: ofType<ProjectReset | undefined>(),
    returns: ofType<Acknowledgement>(),
  }),
  setupState: route('GET /projects/{id}/setup-state', {
    key,
    returns: ofType<ProjectSetupState>(),
  }),
  securityState: route('GET /projects/{id}/security', {
    key,
    returns: ofType<ProjectSecurityState>(),
  }),
  billing: {
    createCheckout: route('POST /users/@me/projects/{id}/checkout', {
      key,
      takesOnce: false, // the page of the session expires, so a stored response would be useless
      body: ofType<CheckoutCreate | undefined>(),
      returns: ofType<CheckoutSession>(),
    }),
    createPortal: route('POST /users/@me/projects/{id}/billing-portal', {
      key,
      takesOnce: false, // the page of the portal expires too
      body: ofType<BillingPortalCreate | undefined>(),
      returns: ofType<BillingPortal>(),
    }),
    getLimits: route('GET /users/@me/projects/{id}/billing-limits', {
      key,
      returns: ofType<BillingLimits>(),
    }),
    setLimits: route('PUT /users/@me/projects/{id}/billing-limits', {
      key,
      body: ofType<BillingLimits | FieldObject>(),
      returns: ofType<BillingLimits>(),
    }),
    consumption: route('GET /users/@me/projects/{id}/billing-consumption', {
      key,
      returns: ofType<BillingConsumption>(),
    }),
    invoices: route('GET /users/@me/projects/{id}/billing-invoices', {
      key,
      query: ofType<InvoiceQuery>(),
      returns: anyList<Invoice>('invoices'),
    }),
  },
  members: {
    list: route('GET /projects/{id}/members', {
      key,
      query: ofType<MemberQuery>(),
      returns: anyList<Member>('members'),
    }),
    invite: route('POST /projects/{id}/members', {
      key,
      body: ofType<MemberInvite>(),
      normalize: normalizeEmailsIn('email'),
      returns: ofType<Member>(),
    }),
    updateRole: route('PATCH /projects/{id}/members/{userId}', {
      key,
      body: ofType<MemberRoleUpdate>(),
      returns: ofType<Member>(),
    }),
    remove: route('DELETE /projects/{id}/members/{userId}', {
      key,
      returns: ofType<Acknowledgement>(),
    }),
  },
};

/** A project. The service does not document its fields. */
export interface Project extends OpenRecord {
  id: string;
}

/** Which projects to list. */
export interface ProjectQuery extends ListQuery {}

/**
 * A project to create. The service does not document its fields. You may pass a project that a method returned:
 * its `id`, `createdAt` and `updatedAt` are left out.
 */
export interface ProjectCreate extends OpenInput {
  name?: string | undefined;
}

/**
 * The settings to change. The service does not document its fields. You may pass a project that a method
 * returned: its `id`, `createdAt` and `updatedAt` are left out.
 */
export interface ProjectUpdate extends OpenInput {}

/** The new keys of a project. The service does not document its fields. */
export interface ProjectKeys extends OpenRecord {}

/** How to replace the keys of a project. */
export interface RegenerateOptions extends RequestOptions {
  /**
   * Switches this client to the new key; only for the project of the client's key. If the response has no
   * new key, the client keeps the old one and emits a `warning`.
   * @default false
   */
  swapKey?: boolean | undefined;
}

/** Bounce and complaint rates and recent suspensions. The service does not document its fields. */
export interface ProjectSecurityReport extends OpenRecord {}

/** The state of a project's security. The service does not document its fields. */
export interface ProjectSecurityState extends OpenRecord {}

/** The setup progress of a project. The service does not document its fields. */
export interface ProjectSetupState extends OpenRecord {}

/** Options of a reset. The service does not document its fields. */
export interface ProjectReset extends OpenInput {
  /** The id of the project, as a confirmation. The SDK checks it and does not send it. */
  confirm?: string | undefined;
}

/** Options of a checkout. The service does not document its fields. */
export interface CheckoutCreate extends OpenInput {}

/** A session of the payment provider. The service does not document its fields. */
export interface CheckoutSession extends OpenRecord {}

/** Options of the billing portal. The service does not document its fields. */
export interface BillingPortalCreate extends OpenInput {}

/** A session of the billing portal. The service does not document its fields. */
export interface BillingPortal extends OpenRecord {}

/** The cap of each category. The service does not document its fields. */
export interface BillingLimits extends OpenRecord {}

/** Usage in the current billing period. The service does not document its fields. */
export interface BillingConsumption extends OpenRecord {}

/** An invoice. The service does not document its fields. */
export interface Invoice extends OpenRecord {}

/** Which invoices to list. */
export interface InvoiceQuery extends ListQuery {}

/** A member of a project. The service does not document its fields. */
export interface Member extends OpenRecord {}

/** Which members to list. */
export interface MemberQuery extends ListQuery {}

/** The person to invite. The service does not document these names. */
export interface MemberInvite extends OpenInput {
  email?: string | undefined;
  /** The service does not document the roles. */
  role?: string | undefined;
}

/** The new role of a member. The service does not document this name. */
export interface MemberRoleUpdate extends OpenInput {
  /** The service does not document the roles. */
  role?: string | undefined;
}

const back = { answerOnly: ['id', 'createdAt', 'updatedAt'] };

/**
 * The projects of an account. Calls need a secret key or the session of `auth.login()`.
 * @example
 * const project = await messaging.projects.create({ name: 'Shop' });
 * await messaging.projects.members.invite('prj_1', { email: 'ann@example.com' });
 */
export class Projects implements MethodsFor<typeof routes> {
  /** The billing of a project: limits, usage and invoices. */
  readonly billing: ProjectBilling;
  /** The members of a project. */
  readonly members: ProjectMembers;
  readonly #transport: Transport;

  readonly #warn: (message: string) => void;

  constructor(transport: Transport, warn: (message: string) => void) {
    this.#transport = transport;
    this.#warn = warn;
    this.billing = new ProjectBilling(transport);
    this.members = new ProjectMembers(transport);
  }

  /** Lists projects. `await` it for one page, `for await` it for every project. */
  list(query?: ProjectQuery, options?: ListOptions): Paginated<Project> {
    return this.#transport.pages(routes.list, { query }, options);
  }

  /** Creates a project. */
  create(body: ProjectCreate | Project, options?: RequestOptions): Call<Project> {
    return this.#transport.send(
      routes.create,
      { body: toRequestBody<ProjectCreate>(body, back) },
      options,
    );
  }

  /** Changes the settings of a project. */
  update(id: string, body: ProjectUpdate | Project, options?: RequestOptions): Call<Project> {
    return this.#transport.send(
      routes.update,
      { params: { id }, body: toRequestBody<ProjectUpdate>(body, back) },
      options,
    );
  }

  /** Deletes a project. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /**
   * Replaces both keys of a project, secret and public; the old ones stop working. With `swapKey`,
   * this client and the clients derived from it by `with()` switch to the new key; without `swapKey` they keep
   * the old one.
   */
  regenerateKeys(id: string, options?: RegenerateOptions): Call<ProjectKeys> {
    const input = {
      params: { id },
      before: { options: { swapKey: flag }, run: () => Promise.resolve() },
    };
    return this.#transport.send(routes.regenerateKeys, input, options).map((keys) => {
      if (options?.swapKey) {
        this.#transport.swapKey(routes.regenerateKeys, (current) => findNewKey(keys, current));
      }
      return keys;
    });
  }

  /** Gets bounce and complaint rates and recent suspensions. */
  securityReport(id: string, options?: RequestOptions): Call<ProjectSecurityReport> {
    return this.#transport.send(routes.securityReport, { params: { id } }, options);
  }

  /**
   * Wipes all data of a project. This cannot be undone. `confirm` must be the id of the project; without
   * `confirm`, the call is made and a `warning` names the project.
   */
  reset(id: string, body?: ProjectReset, options?: RequestOptions): Call<Acknowledgement> {
    const { confirm, rest } = confirmationIn(body);
    if (confirm === undefined) {
      this.#warn(`Project ${id} is reset without \`confirm\`. Use \`reset(id, { confirm: id })\`.`);
    }
    const input = { params: { id }, body: rest };
    const isOther = confirm !== undefined && confirm !== id;
    const before = { run: () => Promise.reject(notConfirmed(id)) };
    const guard = isOther ? { before } : {};
    return this.#transport.send(routes.reset, { ...input, ...guard }, options);
  }

  /** Gets the setup progress of a project. */
  setupState(id: string, options?: RequestOptions): Call<ProjectSetupState> {
    return this.#transport.send(routes.setupState, { params: { id } }, options);
  }

  /** Gets the state of a project's security. */
  securityState(id: string, options?: RequestOptions): Call<ProjectSecurityState> {
    return this.#transport.send(routes.securityState, { params: { id } }, options);
  }
}

/** The billing of a project: limits, usage and invoices. */
export class ProjectBilling implements MethodsFor<typeof routes.billing> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Creates a checkout session at the payment provider. */
  createCheckout(
    id: string,
    body?: CheckoutCreate,
    options?: RequestOptions,
  ): Call<CheckoutSession> {
    return this.#transport.send(routes.billing.createCheckout, { params: { id }, body }, options);
  }

  /** Opens the billing portal. */
  createPortal(
    id: string,
    body?: BillingPortalCreate,
    options?: RequestOptions,
  ): Call<BillingPortal> {
    return this.#transport.send(routes.billing.createPortal, { params: { id }, body }, options);
  }

  /** Gets the cap of each category. */
  getLimits(id: string, options?: RequestOptions): Call<BillingLimits> {
    return this.#transport.send(routes.billing.getLimits, { params: { id } }, options);
  }

  /** Sets the cap of each category. */
  setLimits(
    id: string,
    body: BillingLimits | FieldObject,
    options?: RequestOptions,
  ): Call<BillingLimits> {
    return this.#transport.send(routes.billing.setLimits, { params: { id }, body }, options);
  }

  /** Gets the usage in the current billing period. */
  consumption(id: string, options?: RequestOptions): Call<BillingConsumption> {
    return this.#transport.send(routes.billing.consumption, { params: { id } }, options);
  }

  /** Lists invoices. `await` it for one page, `for await` it for every invoice. */
  invoices(id: string, query?: InvoiceQuery, options?: ListOptions): Paginated<Invoice> {
    return this.#transport.pages(routes.billing.invoices, { params: { id }, query }, options);
  }
}

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

// Splits off the confirmation, which is not sent. A body without other fields is not sent either.
function confirmationIn(body: ProjectReset | undefined) {
  if (!isRecord(body)) {
    return { confirm: undefined, rest: body };
  }
  const { confirm, ...rest } = body;
  return { confirm, rest: Object.keys(rest).length > 0 ? rest : undefined };
}

function notConfirmed(id: string): InvalidRequestError {
  const message = `must be "${id}", the project to reset`;
  return invalidRequest([{ field: 'confirm', message }], {
    method: 'POST',
    path: routes.reset.path,
  });
}

// The maximum depth at which the keys are searched in the response: deeper texts are not the requested keys.
const deepest = 4;

/**
 * Finds the new key in the response to `regenerateKeys()`: the first string that has the prefix of the current key
 * and differs from it. The service does not document the fields of this response.
 */
function findNewKey(keys: unknown, current: string): string | undefined {
  const prefix = /^[a-z]+_/.exec(current)?.[0];
  if (prefix === undefined) {
    return undefined;
  }
  const isNewKey = (text: string) => text.startsWith(prefix) && text !== current && isKey(text);
  return textsIn(keys, deepest).find(isNewKey);
}

function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function textsIn(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  if (depth === 0 || !(isRecord(value) || Array.isArray(value))) {
    return [];
  }
  return Object.values(value).flatMap((inner) => textsIn(inner, depth - 1));
}
