import type { OpenRecord } from '../../contract/records.js';
import type { ContactData, StoredData } from '../shared/data.js';

/** A person in a project. */
export interface Contact {
  id: string;
  /** Unique within a project. */
  email: string;
  subscribed: boolean;
  /** Custom fields; `null` when the contact has none. */
  data: StoredData | null;
  /** ISO 8601. */
  createdAt: string;
  /** ISO 8601. */
  updatedAt: string;
}

/** A contact as `contacts.create()` answers it. */
export interface UpsertedContact extends Contact {
  /**
   * Was the contact made, or was one with this email updated? When the answer to a create was lost
   * and it was sent again, the second answer says "updated".
   */
  _meta: { isNew: boolean; isUpdate: boolean };
}

/** A contact to make, or to update when one has this email. */
export interface ContactCreate {
  email: string;
  /**
   * The service's document does not say whether leaving it out subscribes a contact again who has
   * unsubscribed: give it when you update.
   * @default true
   */
  subscribed?: boolean | undefined;
  /** Only the keys that are sent change; `null` deletes a key; an empty string is ignored. */
  data?: ContactData | undefined;
}

/** What to change about a contact. */
export interface ContactUpdate {
  /** Must not belong to another contact of the project: that is a `ConflictError`. */
  email?: string | undefined;
  /** A change fires `contact.subscribed` or `contact.unsubscribed`. */
  subscribed?: boolean | undefined;
  /** Only the keys that are sent change; `null` deletes a key; an empty string is ignored. */
  data?: ContactData | undefined;
}

/** Which contacts to list. */
export interface ContactQuery {
  /**
   * How many contacts a page holds, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to go on: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
  /** A part of the email, in upper or lower case. */
  search?: string | undefined;
}

/** Emails to look up, 500 at most. The name is not given by the service's document. */
export interface ContactLookup extends OpenRecord {
  emails?: readonly string[] | undefined;
}

/** Which emails belong to contacts. The service's document does not show the fields. */
export interface ContactLookupResult extends OpenRecord {}

/** Ids of contacts, 1000 at most. The name is not given by the service's document. */
export interface ContactSelection extends OpenRecord {
  contactIds?: readonly string[] | undefined;
}

/** A job that was queued. */
export interface JobStarted extends OpenRecord {
  jobId: string;
}

/** An import job. The service's document does not show its fields. */
export interface ImportJob extends OpenRecord {}

/** A bulk job. The service's document does not show its fields. */
export interface BulkJob extends OpenRecord {}

/** Every field that contacts of the project have. */
export interface FieldInventory {
  fields: ContactField[];
}

/** One field of the inventory. */
export interface ContactField {
  /** A standard field by its name, a custom field as `data.<key>`. */
  field: string;
  /** The type of the first value that was seen; it stays for the project. */
  type: 'string' | 'number' | 'boolean' | 'date' | (string & {});
  isCustom: boolean;
  /** The share of contacts that have the field, 0 to 1. */
  coverage: number;
}

/** The distinct values of a field. The service's document does not show the fields. */
export interface FieldValues extends OpenRecord {}

/** Where a field is used. The service's document does not show the fields. */
export interface FieldUsage extends OpenRecord {}
