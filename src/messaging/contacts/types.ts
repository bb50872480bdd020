import type { OpenInput, OpenRecord } from '../../contract/records.js';
import type { DataPatch, ReadData } from '../shared/data.js';

/** A contact of a project. */
export interface Contact<Fields extends object = object> {
  id: string;
  /** Unique within a project. */
  email: string;
  subscribed: boolean;
  /** Custom fields; `null` when the contact has none. */
  data: ReadData<Fields> | null;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** ISO 8601. */
  updatedAt?: string | undefined;
}

/** A contact as `contacts.create()` returns it. */
export interface UpsertedContact<Fields extends object = object> extends Contact<Fields> {
  /**
   * Whether the contact was created or updated. If the answer to a create was lost and the call
   * was retried, the second answer says "updated".
   */
  _meta: { isNew: boolean; isUpdate: boolean };
}

/**
 * A contact to create, or to update if one has this email. A contact that a method returned will do:
 * its `id`, `createdAt`, `updatedAt` and `_meta` are left out.
 */
export interface ContactCreate<Fields extends object = object> {
  email: string;
  /**
   * The service does not document whether leaving it out resubscribes a contact who has
   * unsubscribed: set it when you update.
   * @default true
   */
  subscribed?: boolean | undefined;
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: DataPatch<Fields> | null | undefined;
}

/**
 * Changes to a contact. A contact that a method returned will do: its `id`, `createdAt`, `updatedAt`
 * and `_meta` are left out.
 */
export interface ContactUpdate<Fields extends object = object> {
  /** A `ConflictError` if another contact of the project has it. */
  email?: string | undefined;
  /** A change fires `contact.subscribed` or `contact.unsubscribed`. */
  subscribed?: boolean | undefined;
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: DataPatch<Fields> | null | undefined;
}

/** Which contacts to list. */
export interface ContactQuery {
  /**
   * Contacts per page, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
  /** A part of the email, in upper or lower case. */
  search?: string | undefined;
}

/** Up to 500 emails to look up. The service does not document this name. */
export interface ContactLookup extends OpenInput {
  emails?: readonly string[] | undefined;
}

/** Which emails belong to contacts. The service does not document its fields. */
export interface ContactLookupResult extends OpenRecord {}

/** Up to 1000 contact ids. The service does not document this name. */
export interface ContactSelection extends OpenInput {
  contactIds?: readonly string[] | undefined;
}

/** A job that was queued. */
export interface JobStarted extends OpenRecord {
  jobId: string;
}

/** An import job. The service does not document its fields. */
export interface ImportJob extends OpenRecord {}

/** A bulk job. The service does not document its fields. */
export interface BulkJob extends OpenRecord {}

/** Every contact field of the project. */
export interface FieldInventory {
  fields: ContactField[];
}

/** One field of the inventory. */
export interface ContactField {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: string;
  /** Inferred from the first value that the project has seen; it never changes. */
  type: 'string' | 'number' | 'boolean' | 'date' | (string & {});
  isCustom: boolean;
  /** The share of contacts that have the field, 0 to 1. */
  coverage: number;
}

/** The distinct values of a field. The service does not document its fields. */
export interface FieldValues extends OpenRecord {}

/** Where a field is used. The service does not document its fields. */
export interface FieldUsage extends OpenRecord {}
