import type { RequestOptions } from '../../contract/call.js';
import type { OpenRecord } from '../../contract/records.js';
import type { ListQuery } from '../shared/query.js';

/** A project. The service's document does not show its fields. */
export interface Project extends OpenRecord {
  id: string;
}

/** Which projects to list. */
export interface ProjectQuery extends ListQuery {}

/** A project to make. The name is not given by the service's document. */
export interface ProjectCreate extends OpenRecord {
  name?: string | undefined;
}

/** The settings to change. The service's document does not show the fields. */
export interface ProjectUpdate extends OpenRecord {}

/** The new keys of a project. The service's document does not show the fields. */
export interface ProjectKeys extends OpenRecord {}

/** How to replace the keys of a project. */
export interface RegenerateOptions extends RequestOptions {
  /**
   * Goes on with the new key, for the client's own project. An answer without a new key in it
   * leaves the old one and is a `warning` event.
   * @default false
   */
  swapKey?: boolean | undefined;
}

/** Rates of bounces and complaints, recent suspensions. The service's document does not show the fields. */
export interface ProjectSecurityReport extends OpenRecord {}

/** The state of a project's security. The service's document does not show the fields. */
export interface ProjectSecurityState extends OpenRecord {}

/** How far the set-up of a project is. The service's document does not show the fields. */
export interface ProjectSetupState extends OpenRecord {}

/** What a reset may be told. The service's document does not show the fields. */
export interface ProjectReset extends OpenRecord {}

/** What a checkout may be told. The service's document does not show the fields. */
export interface CheckoutCreate extends OpenRecord {}

/** A session of the payment provider. The service's document does not show its fields. */
export interface CheckoutSession extends OpenRecord {}

/** What the billing portal may be told. The service's document does not show the fields. */
export interface BillingPortalCreate extends OpenRecord {}

/** A session of the billing portal. The service's document does not show its fields. */
export interface BillingPortal extends OpenRecord {}

/** The cap of each category. The service's document does not show the fields. */
export interface BillingLimits extends OpenRecord {}

/** What was used in the current period. The service's document does not show the fields. */
export interface BillingConsumption extends OpenRecord {}

/** An invoice. The service's document does not show its fields. */
export interface Invoice extends OpenRecord {}

/** Which invoices to list. */
export interface InvoiceQuery extends ListQuery {}

/** A member of a project. The service's document does not show its fields. */
export interface Member extends OpenRecord {}

/** Which members to list. */
export interface MemberQuery extends ListQuery {}

/** Whom to invite. The names are not given by the service's document. */
export interface MemberInvite extends OpenRecord {
  email?: string | undefined;
  /** The service's document does not show the roles. */
  role?: string | undefined;
}

/** The new role of a member. The name is not given by the service's document. */
export interface MemberRoleUpdate extends OpenRecord {
  /** The service's document does not show the roles. */
  role?: string | undefined;
}
