import type { RequestOptions } from '../../core/types.js';
import type { OpenInput, OpenRecord } from '../../core/values.js';
import type { ListQuery } from '../shared/query.js';

/** A project. The service does not document its fields. */
export interface Project extends OpenRecord {
  id: string;
}

/** Which projects to list. */
export interface ProjectQuery extends ListQuery {}

/**
 * A project to create. The service does not document its fields. A project that a method returned will
 * do: its `id`, `createdAt` and `updatedAt` are left out.
 */
export interface ProjectCreate extends OpenInput {
  name?: string | undefined;
}

/**
 * The settings to change. The service does not document its fields. A project that a method returned
 * will do: its `id`, `createdAt` and `updatedAt` are left out.
 */
export interface ProjectUpdate extends OpenInput {}

/** The new keys of a project. The service does not document its fields. */
export interface ProjectKeys extends OpenRecord {}

/** How to replace the keys of a project. */
export interface RegenerateOptions extends RequestOptions {
  /**
   * Switches this client to the new key; only for the client's own project. If the answer has no
   * new key in it, the old one stays and a `warning` event is emitted.
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
  /** The id of the project, to make sure. It is checked here and not sent. */
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
