import type { Call, ListOptions, RequestOptions } from '../../contract/call.js';
import type { Paginated } from '../../contract/paginated.js';
import type { StoredData, UntypedPatch } from '../shared/data.js';
import type { Contacts } from './resource.js';
import type {
  ContactChange,
  ContactQuery,
  ContactRecord,
  NewContact,
  UpsertMeta,
} from './types.js';

/**
 * The contacts of a client that was not given the types of its custom fields: the same methods. Its
 * types have no parameters, so that they cost the compiler next to nothing.
 * @hidden
 */
export interface UntypedContacts extends Contacts {
  /** Lists contacts. `await` it for one page, `for await` it for every contact. */
  list(query?: ContactQuery, options?: ListOptions): Paginated<UntypedContact>;
  /** Creates a contact, or updates the one with this email; `_meta` tells which. */
  create(body: UntypedContactCreate, options?: RequestOptions): Call<UntypedUpsertedContact>;
  /** The same as `create()`: creates a contact, or updates the one with this email. */
  upsert(body: UntypedContactCreate, options?: RequestOptions): Call<UntypedUpsertedContact>;
  /** Gets one contact by its id. */
  get(id: string, options?: RequestOptions): Call<UntypedContact>;
  /** Changes a contact. Fields that you leave out keep their values. */
  update(id: string, body: UntypedContactUpdate, options?: RequestOptions): Call<UntypedContact>;
}

/** A contact of a project, with custom fields of any type. */
export interface UntypedContact extends ContactRecord {
  /** Custom fields; `null` when the contact has none. */
  data: StoredData | null;
}

/** A contact as `contacts.create()` returns it, with custom fields of any type. */
export interface UntypedUpsertedContact extends UntypedContact {
  _meta: UpsertMeta;
}

/** A contact to create, or to update if one has this email, with custom fields of any type. */
export interface UntypedContactCreate extends NewContact {
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: UntypedPatch | null | undefined;
}

/** Changes to a contact, with custom fields of any type. */
export interface UntypedContactUpdate extends ContactChange {
  /** Only the keys that you send change; `null` deletes a key; an empty string is ignored. */
  data?: UntypedPatch | null | undefined;
}
