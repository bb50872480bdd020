import type { RequestOptions } from '../core/types.js';
import type { OpenInput, OpenRecord } from '../core/values.js';
import type { Report } from '../core/errors.js';
import type { JobWaitOptions } from '../core/wait.js';
import type { DataPatch, StoredData, TypedData } from './shared/data.js';
import type { RowSource } from './shared/row-source.js';

/** A contact of a project. */
export interface Contact<Fields extends object = object> {
  id: string;
  /** Unique within a project. */
  email: string;
  subscribed: boolean;
  /** ISO 8601. */
  createdAt?: string | undefined;
  /** ISO 8601. */
  updatedAt?: string | undefined;
  /** Custom fields; `null` when the contact has none. */
  data: (keyof Fields extends never ? StoredData : TypedData<Fields>) | null;
}

/** A contact as `contacts.create()` returns it. */
export interface UpsertedContact<Fields extends object = object> extends Contact<Fields> {
  _meta: UpsertMeta;
}

/**
 * Whether a contact was created or updated. If the response to a create was lost and the call was
 * retried, the response to the retry says "updated".
 */
export interface UpsertMeta {
  isNew: boolean;
  isUpdate: boolean;
}

/**
 * A contact to create, or to update if one has this email. You may pass a contact that a method returned:
 * its `id`, `createdAt`, `updatedAt` and `_meta` are left out.
 */
export interface ContactCreate<Fields extends object = object> {
  email: string;
  /**
   * Whether the contact is subscribed. The service does not document whether a call without this field
   * resubscribes a contact who has unsubscribed: set it when you update.
   * @default true
   */
  subscribed?: boolean | undefined;
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: DataPatch<Fields> | null | undefined;
}

/**
 * Changes to a contact. You may pass a contact that a method returned: its `id`, `createdAt`, `updatedAt`
 * and `_meta` are left out.
 */
export interface ContactUpdate<Fields extends object = object> {
  /** The new email. The call rejects with a `ConflictError` if another contact of the project has this email. */
  email?: string | undefined;
  /** Whether the contact is subscribed. A change fires `contact.subscribed` or `contact.unsubscribed`. */
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
  /** The type, which the service infers from the first value of the field in the project. It never changes. */
  type: 'string' | 'number' | 'boolean' | 'date' | (string & {});
  isCustom: boolean;
  /** The share of contacts that have the field, 0 to 1. */
  coverage: number;
}

/** The distinct values of a field. The service does not document its fields. */
export interface FieldValues extends OpenRecord {}

/** Where a field is used. The service does not document its fields. */
export interface FieldUsage extends OpenRecord {}

/** The custom fields that a program expects, by name, with the types that the service infers. */
export type FieldTypes = Readonly<Record<string, ContactField['type']>>;

/** How the custom fields of a project differ from those that a program expects. */
export interface FieldDrift {
  /** Whether a field is missing or has another type. */
  readonly hasDrifted: boolean;
  /** Fields that no contact of the project has had yet. */
  readonly missing: readonly string[];
  readonly different: readonly {
    readonly field: string;
    readonly expected: string;
    readonly actual: string;
  }[];
  /** Fields of the project that the program does not expect. */
  readonly unexpected: readonly string[];
}

/** How to change any number of contacts. */
export interface BulkAllOptions extends ManyOptions {
  /** How to wait for each job. */
  wait?: Omit<JobWaitOptions<BulkJob>, 'signal'> | undefined;
}

/** How to import any number of contacts. */
export interface ImportAllOptions extends ManyOptions {
  /**
   * Whether new contacts are subscribed, for rows without a value for it. Existing contacts keep their state. With
   * `'unsubscribed'`, the addresses of each file are looked up first.
   */
  newContacts?: 'subscribed' | 'unsubscribed' | undefined;
  /**
   * Subscribes (`true`) or unsubscribes (`false`) the contacts of all rows without a value for it, **existing
   * contacts included**: `false` unsubscribes every existing reader in the file. Use `newContacts` to keep them.
   */
  subscribed?: boolean | undefined;
  /**
   * Fields by the names of columns: `{ 'E-Mail': 'email', 'First Name': 'firstName', Notes: null }`. Names are
   * compared trimmed and without regard to case; `null` drops a column; one that is not named goes to `data`.
   * `{ field, read }` reads the text of a cell, e.g. into a `Date`; an empty cell is not read, `undefined` leaves the
   * cell empty, and if `read` throws, the row fails. For the field `subscribed`, `read` gets empty cells too, and
   * returns true or false: `{ unsubscribed_at: { field: 'subscribed', read: (text) => text === '' } }`.
   */
  columns?:
    | {
        readonly [column: string]:
          | string
          | null
          | {
              /** The field that the column becomes. */
              readonly field: string;
              /** Turns the text of a cell into its value. */
              readonly read: (text: string) => string | number | boolean | Date | undefined;
            };
      }
    | undefined;
  /**
   * The character between the fields of a file.
   * @default detected from the first ten records, by the rules of papaparse
   */
  separator?: string | undefined;
  /** How to wait for each job. */
  wait?: Omit<JobWaitOptions<ImportJob>, 'signal'> | undefined;
}

/** The options of a call that changes many contacts, in one job after another. */
interface ManyOptions extends Omit<RequestOptions, 'once'> {
  /**
   * The index of the first row, from 0: the `resumeFrom` of a `PartialError`, or the `from` of `onProgress()`. The
   * rows before it are skipped.
   * @default 0
   */
  from?: number | undefined;
  /** Called after each job. Errors it throws are ignored. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
}

/** The progress of a call for many contacts, in rows. */
export interface BulkProgress {
  readonly done: number;
  readonly failed: number;
  readonly unknown: number;
  /** The index of the next row without a result. After a crash, pass it as `from` to continue. */
  readonly from: number;
}

/**
 * The result of a call for many contacts. A row that a job names in its errors is in `failed`, with the service's
 * reason. If a job counts more failed rows than it names, or does not count all of its rows, the rows that it does
 * not name are in `unknown`.
 */
export interface JobReport<Row, Job extends OpenRecord> extends Report<Row> {
  /** Every job that has ended, as the service returned it. */
  jobs: Job[];
}

/**
 * One row of an import: an email and custom fields, as keys of the row or in `data`. At run time, `subscribed` may
 * also be a word such as `yes` or `0`. A row with `id`, `createdAt` and `subscribed` is a record that was read: for
 * such a row, `subscribed: false` is sent and `subscribed: true` is not.
 */
export type ImportRow<Fields extends object = object> = {
  readonly email: string;
  readonly subscribed?: boolean | undefined;
} & ([keyof Fields] extends [never] ? OpenInput : ImportFields<Fields> & ImportRecord<Fields>);

// Without `null`: an import cannot delete a field, because an empty cell changes nothing.
type ImportFields<Fields extends object> = {
  readonly [Key in keyof Fields]?: Cell<Fields[Key]> | undefined;
};
type Cell<Value> = Value extends Date ? Date | string : Value;

/** The fields of a contact that was read, and of the contacts that `create()` takes. */
type ImportRecord<Fields extends object> = {
  readonly [
    Key in 'id' | 'createdAt' | 'updatedAt' | '_meta' as Key extends keyof Fields ? never : Key
  ]?: unknown;
} & ('data' extends keyof Fields
  ? unknown
  : { readonly data?: ImportFields<Fields> | null | undefined });

/**
 * Rows to import: objects, or the text or bytes of a CSV file in pieces. A file is UTF-8 or UTF-16, with commas,
 * semicolons, tabs or vertical bars (or any `separator`). A record that cannot be read, or is longer than 1 MB, fails
 * with the number of its line.
 */
export type ImportRows<Fields extends object = object> =
  | RowSource<ImportRow<Fields>>
  | RowSource<string>
  | RowSource<Uint8Array>
  | RowSource<string | Uint8Array>;
