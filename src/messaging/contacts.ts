import {
  cursorPage,
  ofType,
  route,
  type UploadFacts,
  type NamesOf,
  type MethodsFor,
} from '../core/call/route.js';
import type { Clock } from '../core/async.js';
import type { Acknowledgement, FileInput } from '../core/values.js';
import { encodeFile } from '../core/call/upload.js';
import type { Call, ListOptions, RequestOptions, Paginated, DataOptions } from '../core/types.js';
import {
  callback,
  flag,
  group,
  invalidOption,
  oneOf,
  plainObject,
  type OptionKind,
  readOptions,
  wholeNumber,
  requestOptions,
} from '../core/options.js';
import { waitForJob, type JobWaitOptions, type JobWatch, innerWaitOptions } from '../core/wait.js';
import type { Transport } from '../core/call/send.js';
import { invalidRequest, ConflictError, NotFoundError } from '../core/errors.js';
import { limits } from './limits.js';
import type {
  BulkAllOptions,
  BulkJob,
  Contact,
  ContactCreate,
  ContactField,
  ContactLookup,
  ContactLookupResult,
  ContactQuery,
  ContactSelection,
  ContactUpdate,
  FieldDrift,
  FieldInventory,
  FieldTypes,
  FieldUsage,
  FieldValues,
  ImportAllOptions,
  ImportJob,
  ImportRow,
  ImportRows,
  JobReport,
  JobStarted,
  UpsertedContact,
} from './contacts.types.js';
import { lengthOf, withRows, yieldWithRows, type RowSource } from './shared/row-source.js';
import { emailProblem, mapFields, normalizeEmail, normalizeEmailsIn } from './shared/values.js';
import { isServiceRecord, withEmptyDeleted, toRequestBody } from './shared/request-body.js';
import { setBulkPriority, changeMany, splitIds, lookupAll } from './bulk.js';
import type { ImportRules, ImportSource } from './contacts/import-rows.js';
import { parseColumnsOption } from './contacts/import-columns.js';

// The service does not document the name of the form field: `file` is the choice of this package.
const csv: UploadFacts = {
  form: encodeFile,
  field: 'file',
  contentType: 'text/csv',
  filename: 'contacts.csv',
  maxBytes: limits.importBytes,
  takesText: true,
};

// Repeatable: the same change of the same ids has the same effect.
const selection = {
  body: ofType<ContactSelection>(),
  returns: ofType<JobStarted>(),
  repeatable: true,
} as const;

export const routes = {
  list: route('GET /contacts', { query: ofType<ContactQuery>(), returns: cursorPage<Contact>() }),
  create: route('POST /contacts', {
    body: ofType<ContactCreate>(),
    returns: ofType<UpsertedContact>(),
    normalize: normalizeEmailsIn('email'),
    repeatable: true, // an upsert
  }),
  get: route('GET /contacts/{id}', { returns: ofType<Contact>() }),
  update: route('PATCH /contacts/{id}', {
    body: ofType<ContactUpdate>(),
    returns: ofType<Contact>(),
    normalize: normalizeEmailsIn('email'),
  }),
  delete: route('DELETE /contacts/{id}', { returns: ofType<Acknowledgement>() }),
  lookup: route('POST /contacts/lookup', {
    body: ofType<ContactLookup>(),
    returns: ofType<ContactLookupResult>(),
    normalize: (body) => mapFields(body, Object.keys(body), normalizeEmail), // the document does not name the list
    repeatable: true, // a read with a body
    changes: false,
  }),
  import: route('POST /contacts/import', {
    body: ofType<FileInput>(),
    returns: ofType<JobStarted>(),
    upload: csv,
  }),
  getImport: route('GET /contacts/import/{jobId}', { returns: ofType<ImportJob>() }),
  bulkSubscribe: route('POST /contacts/bulk-subscribe', selection),
  bulkUnsubscribe: route('POST /contacts/bulk-unsubscribe', selection),
  bulkDelete: route('POST /contacts/bulk-delete', selection),
  getBulkJob: route('GET /contacts/bulk/{jobId}', { returns: ofType<BulkJob>() }),
  fields: {
    list: route('GET /contacts/fields', { returns: ofType<FieldInventory>('fields') }),
    values: route('GET /contacts/fields/{field}/values', { returns: ofType<FieldValues>() }),
    usage: route('GET /contacts/fields/{field}/usage', { returns: ofType<FieldUsage>() }),
    delete: route('DELETE /contacts/fields/{field}', { returns: ofType<Acknowledgement>() }),
  },
};

// When a returned contact is sent back, `data: null` is left out, because it would change nothing.
const contactBodyRules = {
  answerOnly: ['id', 'createdAt', 'updatedAt', '_meta'],
  dropNull: ['data'],
};

/** The parts of the client that `Contacts` uses, next to the transport. */
interface ContactsParts {
  readonly watch: JobWatch;
  readonly rules: DataOptions;
  readonly warn: (message: string) => void;
  readonly clock: Clock;
}

/**
 * The contacts of a project.
 * @example
 * await messaging.contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
 * for await (const contact of messaging.contacts.list({ search: '@example.com' })) {
 *   console.log(contact.email);
 * }
 */
export class Contacts<Fields extends object = object> implements NamesOf<typeof routes> {
  /** The fields that contacts have. */
  readonly fields: ContactFields;
  readonly #transport: Transport;
  readonly #watch: JobWatch;
  readonly #rules: DataOptions;
  readonly #warn: (message: string) => void;
  readonly #clock: Clock;

  constructor(transport: Transport, { watch, rules, warn, clock }: ContactsParts) {
    this.#transport = transport;
    this.#watch = watch;
    this.#rules = rules;
    this.#warn = warn;
    this.#clock = clock;
    this.fields = new ContactFields(transport);
  }

  /** Lists contacts. `await` it for one page, `for await` it for every contact. */
  list(query?: ContactQuery, options?: ListOptions): Paginated<Contact<Fields>> {
    return this.#transport.pages(routes.list, { query }, options) as Paginated<Contact<Fields>>; // as: typed for any fields
  }

  /**
   * Creates a contact, or updates the one with this email; `_meta` shows which. A new contact is subscribed
   * unless `subscribed` is `false`.
   */
  create(body: ContactCreate<Fields>, options?: RequestOptions): Call<UpsertedContact<Fields>> {
    return this.#transport.send(
      routes.create,
      {
        body: this.#toBody<ContactCreate>(body),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<UpsertedContact<Fields>>; // as: typed for any fields
  }

  /**
   * Finds the contact with this email; `undefined` if there is none. An exact match wins. Without one, a
   * contact whose email differs only in upper and lower case is found; several of these are a `ConflictError`.
   */
  findByEmail(email: string, options?: RequestOptions): Promise<Contact<Fields> | undefined> {
    return findByEmail<Fields>((query, more) => this.list(query, more), email, options);
  }

  /**
   * Subscribes a contact by id or email. Never creates a contact: rejects with a `NotFoundError` if no
   * contact has the email.
   */
  subscribe(idOrEmail: string, options?: Omit<RequestOptions, 'once'>): Promise<Contact<Fields>> {
    return this.#setSubscribed(idOrEmail, true, options);
  }

  /**
   * Unsubscribes a contact by id or email. Never creates a contact: rejects with a `NotFoundError` if
   * no contact has the email.
   */
  unsubscribe(idOrEmail: string, options?: Omit<RequestOptions, 'once'>): Promise<Contact<Fields>> {
    return this.#setSubscribed(idOrEmail, false, options);
  }

  /** Gets one contact by its id. */
  get(id: string, options?: RequestOptions): Call<Contact<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<Contact<Fields>>; // as: typed for any fields
  }

  /** Changes a contact. Fields that you leave out keep their values. */
  update(id: string, body: ContactUpdate<Fields>, options?: RequestOptions): Call<Contact<Fields>> {
    return this.#transport.send(
      routes.update,
      {
        params: { id },
        body: this.#toBody<ContactUpdate>(body),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<Contact<Fields>>; // as: typed for any fields
  }

  /** Deletes a contact. */
  delete(id: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.delete, { params: { id } }, options);
  }

  /** Checks which of up to 500 emails belong to contacts. */
  lookup(body: ContactLookup, options?: RequestOptions): Call<ContactLookupResult> {
    return this.#transport.send(routes.lookup, { body }, options);
  }

  /**
   * Looks up any number of emails, 500 per call, and yields the responses in order. If the source throws, the
   * emails that it gave before the error are looked up first.
   * @throws a `PartialError` when the lookup ends early, with the place to continue from, and at the end if some rows
   *   are not email addresses
   */
  lookupAll(
    emails: RowSource<string>,
    options?: Omit<BulkAllOptions, 'wait' | 'onProgress'>,
  ): AsyncIterableIterator<ContactLookupResult> {
    const call = 'contacts.lookupAll()';
    return yieldWithRows(emails, call, (rows) => {
      const owner = { name: `\`${call}\``, isStrict: true };
      const { from, ...rest } = readOptions(options, lookupOptions, owner);
      const { signal } = rest;
      return lookupAll(rows, (body) => this.lookup(body, setBulkPriority(rest)), {
        from,
        signal,
        warn: this.#warn,
      });
    });
  }

  /**
   * Queues the import of a CSV file of at most 5 MB: a `File`, a `Blob`, bytes, or
   * `{ data, filename, contentType }`. It must be UTF-8, separated by commas, with a column `email`:
   * `importAll()` takes other files. `waitForImport()` waits for the job to finish. Without a column
   * `subscribed`, the service decides whether new contacts become subscribed, and the client emits a `warning`.
   */
  import(file: FileInput, options?: RequestOptions): Call<JobStarted> {
    const rules: ImportRules = {
      named: new Map(),
      data: this.#rules,
      warn: this.#warn,
      isStated: true,
      allowsUnclear: true,
    };
    // Loaded on demand: few programs import contacts, and reading CSV needs a parser.
    const run = async () => (await import('./contacts/import.js')).checkFile(file, rules);
    return this.#transport.send(routes.import, { body: file, before: { run } }, options);
  }

  /**
   * Imports any number of contacts, in files below 5 MB, one after another. The rows are objects, or the text or
   * bytes of a CSV file in pieces. An import must say who is subscribed: by `newContacts`, by a column or key
   * `subscribed`, or by the option `subscribed`, which applies to existing contacts too. Rows are checked before
   * they are sent, each job is awaited, and the report has the rows that failed, with the service's reason.
   * Memory use does not grow with the number of rows.
   * @throws an `InvalidRequestError` if the import does not say who is subscribed, or if the file cannot be read
   *   or has no column of addresses: nothing was sent. A `PartialError` with the report so far if it ends early.
   * @example
   * const { done, failed } = await messaging.contacts.importAll(createReadStream('people.csv'), {
   *   columns: { 'E-Mail': 'email', 'First Name': 'firstName', Notes: null },
   *   newContacts: 'unsubscribed', // existing contacts keep their state
   * });
   */
  importAll(
    rows: ImportRows<Fields>,
    options?: ImportAllOptions,
  ): Promise<JobReport<ImportRow<Fields>, ImportJob>>;
  importAll<Row extends object>(
    rows: RowSource<Row>,
    options: ImportAllOptions & Required<Pick<ImportAllOptions, 'columns'>>,
  ): Promise<JobReport<Row, ImportJob>>;
  importAll(
    source: ImportSource,
    options?: ImportAllOptions,
  ): Promise<JobReport<object, ImportJob>> {
    const call = 'contacts.importAll()';
    return withRows(source, call, async (rows) => {
      const owner = { name: `\`${call}\``, isStrict: true };
      const { wait, onProgress, from, columns, subscribed, newContacts, separator, ...rest } =
        readOptions<ImportAllOptions>(options, importOptions, owner);
      const { signal } = rest;
      if (subscribed !== undefined && newContacts !== undefined) {
        throw invalidOption(
          'Pass either `subscribed` or `newContacts`. Both apply to rows that do not say who is subscribed: `newContacts` leaves existing contacts unchanged, `subscribed` does not',
        );
      }
      const rules: ImportRules = {
        named: parseColumnsOption(columns),
        subscribed,
        newContacts,
        separator,
        isStated: subscribed !== undefined || newContacts !== undefined,
        data: this.#rules,
        warn: this.#warn,
      };
      const { splitImport } = await import('./contacts/import.js');
      return changeMany({
        call,
        signal,
        onProgress,
        from,
        batches: (first) =>
          splitImport(rows, first, rules, (body) => this.lookup(body, setBulkPriority(rest))),
        // Sent without the check of whole files: the rows of this file were checked one by one.
        start: (file, beforeSending) =>
          this.#transport.send(
            routes.import,
            { body: file, hooks: { beforeSending } },
            setBulkPriority(rest),
          ),
        wait: (jobId) => this.waitForImport(jobId, { ...wait, signal }),
        length: lengthOf(rows),
        warn: this.#warn,
      });
    });
  }

  /** Gets an import job. */
  getImport(jobId: string, options?: RequestOptions): Call<ImportJob> {
    return this.#transport.send(routes.getImport, { params: { jobId } }, options);
  }

  /** Waits for an import to finish. Rejects with a `JobFailedError` if it fails. */
  waitForImport(jobId: string, options?: JobWaitOptions<ImportJob>): Promise<ImportJob> {
    const check = this.#checkOf(routes.getImport, jobId);
    return waitForJob(jobId, check, this.#watch, options);
  }

  /** Queues up to 1000 contacts to be subscribed. */
  bulkSubscribe(body: ContactSelection, options?: RequestOptions): Call<JobStarted> {
    return this.#transport.send(routes.bulkSubscribe, { body }, options);
  }

  /** Queues up to 1000 contacts to be unsubscribed. */
  bulkUnsubscribe(body: ContactSelection, options?: RequestOptions): Call<JobStarted> {
    return this.#transport.send(routes.bulkUnsubscribe, { body }, options);
  }

  /** Queues up to 1000 contacts to be deleted. */
  bulkDelete(body: ContactSelection, options?: RequestOptions): Call<JobStarted> {
    return this.#transport.send(routes.bulkDelete, { body }, options);
  }

  /**
   * Subscribes any number of contacts, 1000 per job, and waits for the jobs. Rejects with a `PartialError` if
   * it ends early.
   */
  subscribeAll(
    ids: RowSource<string>,
    options?: BulkAllOptions,
  ): Promise<JobReport<string, BulkJob>> {
    return this.#inBulk('contacts.subscribeAll()', ids, routes.bulkSubscribe, options);
  }

  /**
   * Unsubscribes any number of contacts, 1000 per job, and waits for the jobs. Rejects with a `PartialError` if
   * it ends early.
   */
  unsubscribeAll(
    ids: RowSource<string>,
    options?: BulkAllOptions,
  ): Promise<JobReport<string, BulkJob>> {
    return this.#inBulk('contacts.unsubscribeAll()', ids, routes.bulkUnsubscribe, options);
  }

  /**
   * Deletes any number of contacts, 1000 per job, and waits for the jobs. Rejects with a `PartialError` if
   * it ends early.
   */
  deleteAll(ids: RowSource<string>, options?: BulkAllOptions): Promise<JobReport<string, BulkJob>> {
    return this.#inBulk('contacts.deleteAll()', ids, routes.bulkDelete, options);
  }

  /** Gets a bulk job. */
  getBulkJob(jobId: string, options?: RequestOptions): Call<BulkJob> {
    return this.#transport.send(routes.getBulkJob, { params: { jobId } }, options);
  }

  /** Waits for a bulk job to finish. Rejects with a `JobFailedError` if it fails. */
  waitForBulkJob(jobId: string, options?: JobWaitOptions<BulkJob>): Promise<BulkJob> {
    const check = this.#checkOf(routes.getBulkJob, jobId);
    return waitForJob(jobId, check, this.#watch, options);
  }

  async #setSubscribed(
    idOrEmail: string,
    subscribed: boolean,
    given?: RequestOptions,
  ): Promise<Contact<Fields>> {
    const name = `\`contacts.${subscribed ? 'subscribe' : 'unsubscribe'}()\``;
    const options = readOptions(given, requestOptions, { name });
    const startedAt = this.#clock.now();
    const id = await idOf((query, more) => this.list(query, more), idOrEmail, options);
    const { deadline = Number.POSITIVE_INFINITY } = options;
    // The deadline covers both calls: the update gets the time that the search has left, in milliseconds.
    const leftMs = Math.max(1, deadline - (this.#clock.now() - startedAt));
    return this.update(id, { subscribed }, { ...options, deadline: leftMs });
  }

  #inBulk(
    call: string,
    ids: RowSource<string>,
    route: BulkRoute,
    options?: BulkAllOptions,
  ): Promise<JobReport<string, BulkJob>> {
    return withRows(ids, call, async (rows) => {
      const owner = { name: `\`${call}\``, isStrict: true };
      const { wait, onProgress, from, ...rest } = readOptions<BulkAllOptions>(
        options,
        manyOptions,
        owner,
      );
      const { signal } = rest;
      return changeMany({
        call,
        signal,
        onProgress,
        from,
        batches: (first) => splitIds(rows, first),
        start: (body, beforeSending) =>
          this.#transport.send(route, { body, hooks: { beforeSending } }, setBulkPriority(rest)),
        wait: (jobId) => this.waitForBulkJob(jobId, { ...wait, signal }),
        isDelete: route === routes.bulkDelete,
        length: lengthOf(rows),
        warn: this.#warn,
      });
    });
  }

  // Makes a request body of a contact, which may be one that the service returned.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the row's own body
  #toBody<Body>(body: unknown): Body {
    return withEmptyDeleted(toRequestBody<Body>(body, contactBodyRules), this.#rules);
  }

  // Without retries: `waitForJob()` repeats a failed check itself.
  #checkOf(route: typeof routes.getImport | typeof routes.getBulkJob, jobId: string) {
    return (signal: AbortSignal | undefined) =>
      this.#transport.send(route, { params: { jobId } }, { signal, retries: 0 });
  }
}

/** The fields that contacts have: standard ones by name, custom ones as `data.<key>`. */
export class ContactFields implements MethodsFor<typeof routes.fields> {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists every field with its type and the share of contacts that have it. */
  list(options?: RequestOptions): Call<FieldInventory> {
    return this.#transport.send(routes.fields.list, {}, options);
  }

  /** Gets the distinct values seen for a field, e.g. `data.plan`. */
  values(field: string, options?: RequestOptions): Call<FieldValues> {
    return this.#transport.send(routes.fields.values, { params: { field } }, options);
  }

  /** Lists the segments, campaigns and workflows that use a field. */
  usage(field: string, options?: RequestOptions): Call<FieldUsage> {
    return this.#transport.send(routes.fields.usage, { params: { field } }, options);
  }

  /**
   * Removes a custom field from every contact. Conditions that use the field match no contact from then on;
   * `usage()` lists them.
   */
  delete(field: string, options?: RequestOptions): Call<Acknowledgement> {
    return this.#transport.send(routes.fields.delete, { params: { field } }, options);
  }

  /**
   * Compares the custom fields that your program expects with those of the project, e.g.
   * `{ plan: 'string', seats: 'number', trialEnds: 'date' }`.
   */
  async check(expected: FieldTypes, options?: RequestOptions): Promise<FieldDrift> {
    const { fields } = await this.list(options);
    return checkFields(expected, fields);
  }
}

const lookupOptions = { ...requestOptions, from: wholeNumber(0) };

const manyOptions = {
  ...lookupOptions,
  wait: group(innerWaitOptions),
  onProgress: callback<(progress: unknown) => void>(),
};

const separatorKind: OptionKind<string> = {
  form: "one character, such as ';'",
  allows: (value) => typeof value === 'string' && /^[^"\r\n\ufeff]$/u.test(value),
};

const importOptions = {
  ...manyOptions,
  columns: plainObject<NonNullable<ImportAllOptions['columns']>>('an object of columns'),
  subscribed: flag,
  newContacts: oneOf('subscribed', 'unsubscribed'),
  separator: separatorKind,
};

type BulkRoute =
  typeof routes.bulkSubscribe | typeof routes.bulkUnsubscribe | typeof routes.bulkDelete;

/** Compares the custom fields that a program expects with those that the project has. */
function checkFields(expected: FieldTypes, inventory: readonly ContactField[]): FieldDrift {
  const custom = inventory.filter(({ field, isCustom }) => isCustom || field.startsWith('data.'));
  const live = new Map(custom.map(({ field, type }) => [field.replace(/^data\./, ''), type]));
  const names = Object.keys(expected);
  const different = names.flatMap((field) => {
    const actual = live.get(field);
    const wanted = expected[field];
    return actual === undefined || wanted === undefined || actual === wanted
      ? []
      : [{ field, expected: wanted, actual }];
  });
  const missing = names.filter((field) => !live.has(field));
  const unexpected = [...live.keys()].filter((field) => !names.includes(field));
  const hasDrifted = missing.length > 0 || different.length > 0;
  return { hasDrifted, missing, different, unexpected };
}

type ContactList<Fields extends object> = (
  query: ContactQuery,
  options?: RequestOptions,
) => Paginated<Contact<Fields>>;

/**
 * Finds the contact with an email. The search of the service matches parts of an email, so this function reads the
 * results until one matches exactly. Several matches that differ only in case are an error, because a guess might
 * change the wrong contact.
 */
async function findByEmail<Fields extends object>(
  list: ContactList<Fields>,
  email: string,
  options?: RequestOptions,
): Promise<Contact<Fields> | undefined> {
  const wanted = normalizeEmail(email);
  const message = emailProblem(wanted);
  if (message !== undefined) {
    throw invalidRequest([{ field: 'email', message }]);
  }
  const inexact: Contact<Fields>[] = [];
  for await (const contact of list({ search: wanted }, options)) {
    const found: unknown = contact.email; // a service may leave it out
    if (found === wanted) {
      return contact;
    }
    if (typeof found === 'string' && found.toLowerCase() === wanted.toLowerCase()) {
      inexact.push(contact);
    }
  }
  if (inexact.length > 1) {
    throw new ConflictError(
      `${inexact.length} contacts have this email in different capitalization. Pass it exactly as the contact has it, or pass the contact's id.`,
      { code: 'EMAIL_AMBIGUOUS', outcome: 'not-sent' },
    );
  }
  return inexact[0];
}

/** Returns the id of the contact that an id or an email names. Never creates a contact. */
async function idOf<Fields extends object>(
  list: ContactList<Fields>,
  idOrEmail: string,
  options?: RequestOptions,
): Promise<string> {
  // A value that is neither an id nor an email is returned unchanged: the call itself rejects it.
  if (typeof idOrEmail !== 'string' || !idOrEmail.includes('@')) {
    return idOrEmail;
  }
  const contact = await findByEmail(list, idOrEmail, options);
  if (contact) {
    return contact.id;
  }
  throw new NotFoundError('No contact has this email. None was created or changed.', {
    code: 'CONTACT_NOT_FOUND',
    outcome: 'not-sent',
  });
}
