import { cursorPage, of, route, type UploadFacts } from '../../core/route.js';
import type { Acknowledgement, FileInput } from '../../core/values.js';
import { limits } from '../limits.js';
import { multipartBody } from '../../core/upload.js';
import type {
  BulkJob,
  Contact,
  ContactCreate,
  ContactLookup,
  ContactLookupResult,
  ContactQuery,
  ContactSelection,
  ContactUpdate,
  FieldInventory,
  FieldUsage,
  FieldValues,
  ImportJob,
  JobStarted,
  UpsertedContact,
} from './types.js';

// The field's name is ours.
const csv: UploadFacts = {
  form: multipartBody,
  field: 'file',
  contentType: 'text/csv',
  filename: 'contacts.csv',
  maxBytes: limits.importBytes,
};

// The same change of the same ids.
const selection = {
  body: of<ContactSelection>(),
  returns: of<JobStarted>(),
  repeatable: true,
} as const;

export const routes = {
  list: route('GET /contacts', { query: of<ContactQuery>(), returns: cursorPage<Contact>() }),
  create: route('POST /contacts', {
    body: of<ContactCreate>(),
    returns: of<UpsertedContact>(),
    repeatable: true, // an upsert
  }),
  get: route('GET /contacts/{id}', { returns: of<Contact>() }),
  update: route('PATCH /contacts/{id}', { body: of<ContactUpdate>(), returns: of<Contact>() }),
  delete: route('DELETE /contacts/{id}', { returns: of<Acknowledgement>() }),
  lookup: route('POST /contacts/lookup', {
    body: of<ContactLookup>(),
    returns: of<ContactLookupResult>(),
    repeatable: true, // a read with a body
    changes: false,
  }),
  import: route('POST /contacts/import', {
    body: of<FileInput>(),
    returns: of<JobStarted>(),
    upload: csv,
  }),
  getImport: route('GET /contacts/import/{jobId}', { returns: of<ImportJob>() }),
  bulkSubscribe: route('POST /contacts/bulk-subscribe', selection),
  bulkUnsubscribe: route('POST /contacts/bulk-unsubscribe', selection),
  bulkDelete: route('POST /contacts/bulk-delete', selection),
  getBulkJob: route('GET /contacts/bulk/{jobId}', { returns: of<BulkJob>() }),
  fields: {
    list: route('GET /contacts/fields', { returns: of<FieldInventory>('fields') }),
    values: route('GET /contacts/fields/{field}/values', { returns: of<FieldValues>() }),
    usage: route('GET /contacts/fields/{field}/usage', { returns: of<FieldUsage>() }),
    delete: route('DELETE /contacts/fields/{field}', { returns: of<Acknowledgement>() }),
  },
};
