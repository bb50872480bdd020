import type {
  Call,
  ListOptions,
  RequestOptions,
  Paginated,
  DataOptions,
} from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import {
  callback,
  group,
  readOptions,
  wholeNumber,
  readCallOptions,
  requestOptions,
} from '../../core/options.js';
import type { Acknowledgement, FileInput } from '../../core/values.js';
import {
  waitForJob,
  type JobWaitOptions,
  type JobWatch,
  recordWaitOptions,
} from '../../core/wait.js';
import type { Transport } from '../../core/send.js';
import { checkRows, lengthOf, type RowSource } from '../shared/row-source.js';
import { isServiceRecord, withEmptyDeleted, toRequestBody } from '../shared/request-body.js';
import { ContactFields } from './fields.js';
import { changeMany } from './change-many.js';
import { findByEmail, idOf } from './find-by-email.js';
import { idBatches } from './id-batches.js';
import type { ImportSource } from './import-batches.js';
import { lookupAll } from './lookup-all.js';
import { routes } from './routes.js';
import type {
  BulkAllOptions,
  BulkJob,
  Contact,
  ContactCreate,
  ContactLookup,
  ContactLookupResult,
  ContactQuery,
  ContactSelection,
  ContactUpdate,
  ImportAllOptions,
  ImportJob,
  ImportRow,
  ImportRows,
  JobReport,
  JobStarted,
  UpsertedContact,
} from './types.js';

// A contact without custom fields has `null` as `data`: nothing to patch.
const contactBack = {
  answerOnly: ['id', 'createdAt', 'updatedAt', '_meta'],
  dropNull: ['data'],
};

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

  constructor(transport: Transport, watch: JobWatch, rules: DataOptions = {}) {
    this.#transport = transport;
    this.#rules = rules;
    this.#watch = watch;
    this.fields = new ContactFields(transport);
  }

  /** Lists contacts. `await` it for one page, `for await` it for every contact. */
  list(query?: ContactQuery, options?: ListOptions): Paginated<Contact<Fields>> {
    return this.#transport.pages(routes.list, { query }, options) as Paginated<Contact<Fields>>; // for any fields
  }

  /** Creates a contact, or updates the one with this email; `_meta` shows which. */
  create(body: ContactCreate<Fields>, options?: RequestOptions): Call<UpsertedContact<Fields>> {
    return this.#transport.send(
      routes.create,
      {
        body: this.#written<ContactCreate>(body),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<UpsertedContact<Fields>>; // for any fields
  }

  /** The same as {@link create}: creates a contact, or updates the one with this email. */
  upsert(body: ContactCreate<Fields>, options?: RequestOptions): Call<UpsertedContact<Fields>> {
    return this.create(body, options);
  }

  /**
   * Finds the contact with this email; `undefined` if there is none. An exact match wins; one that
   * differs in upper and lower case is found too, and several of these are a `ConflictError`.
   */
  findByEmail(email: string, options?: RequestOptions): Promise<Contact<Fields> | undefined> {
    return findByEmail<Fields>((query, more) => this.list(query, more), email, options);
  }

  /**
   * Subscribes a contact by id or email. Never creates a contact: rejects with a `NotFoundError` if no
   * contact has the email.
   */
  subscribe(idOrEmail: string, options?: RequestOptions): Promise<Contact<Fields>> {
    return this.#setSubscribed(idOrEmail, true, options);
  }

  /**
   * Unsubscribes a contact by id or email. Never creates a contact: rejects with a `NotFoundError` if
   * no contact has the email.
   */
  unsubscribe(idOrEmail: string, options?: RequestOptions): Promise<Contact<Fields>> {
    return this.#setSubscribed(idOrEmail, false, options);
  }

  /** Gets one contact by its id. */
  get(id: string, options?: RequestOptions): Call<Contact<Fields>> {
    return this.#transport.send(routes.get, { params: { id } }, options) as Call<Contact<Fields>>; // for any fields
  }

  /** Changes a contact. Fields that you leave out keep their values. */
  update(id: string, body: ContactUpdate<Fields>, options?: RequestOptions): Call<Contact<Fields>> {
    return this.#transport.send(
      routes.update,
      {
        params: { id },
        body: this.#written<ContactUpdate>(body),
        about: { isServiceRecord: isServiceRecord(body) },
      },
      options,
    ) as Call<Contact<Fields>>; // for any fields
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
   * Looks up any number of emails, 500 per call, and yields the answers in order. A source that throws
   * loses nothing: what it gave before that is looked up first.
   */
  async *lookupAll(
    emails: RowSource<string>,
    options?: RequestOptions,
  ): AsyncIterableIterator<ContactLookupResult> {
    checkRows(emails, 'contacts.lookupAll()');
    const own = readCallOptions(options);
    yield* lookupAll(emails, (body) => this.lookup(body, own), own.signal);
  }

  /**
   * Queues the import of a CSV file of at most 5 MB: a `File`, a `Blob`, bytes, or
   * `{ data, filename, contentType }`. `waitForImport()` waits for the job to finish.
   */
  import(file: FileInput, options?: RequestOptions): Call<JobStarted> {
    return this.#transport.send(routes.import, { body: file }, options);
  }

  /**
   * Imports any number of contacts, in files below 5 MB, one after another: rows as objects, or the text
   * of a CSV file in pieces. Each job is awaited; the report has the rows that failed. Rejects with a
   * `PartialError` if it ends early. Memory stays flat.
   */
  async importAll(
    rows: ImportRows<Fields>,
    options?: ImportAllOptions,
  ): Promise<JobReport<ImportRow<Fields>, ImportJob>> {
    const call = 'contacts.importAll()';
    checkRows(rows, call);
    const { wait, onProgress, from, ...rest } = readOptions<ImportAllOptions>(
      options,
      manyOptions,
      {
        name: `\`${call}\``,
      },
    );
    const { signal } = rest;
    // Loaded here: few programs import contacts, and reading CSV takes a parser.
    const { importBatches } = await import('./import-batches.js');
    const report = await changeMany({
      call,
      signal,
      onProgress,
      from,
      batches: (first) => importBatches(rows as ImportSource, first, this.#rules), // of any fields
      start: (file) => this.import(file, asBulk(rest)),
      wait: (jobId) => this.waitForImport(jobId, { ...wait, signal }),
      length: lengthOf(rows),
    });
    return report as JobReport<ImportRow<Fields>, ImportJob>; // the same rows
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
    const start: StartBulk = (body, more) => this.bulkSubscribe(body, more);
    return this.#inBulk('contacts.subscribeAll()', ids, start, options);
  }

  /**
   * Unsubscribes any number of contacts, 1000 per job, and waits for the jobs. Rejects with a `PartialError` if
   * it ends early.
   */
  unsubscribeAll(
    ids: RowSource<string>,
    options?: BulkAllOptions,
  ): Promise<JobReport<string, BulkJob>> {
    const start: StartBulk = (body, more) => this.bulkUnsubscribe(body, more);
    return this.#inBulk('contacts.unsubscribeAll()', ids, start, options);
  }

  /**
   * Deletes any number of contacts, 1000 per job, and waits for the jobs. Rejects with a `PartialError` if
   * it ends early.
   */
  deleteAll(ids: RowSource<string>, options?: BulkAllOptions): Promise<JobReport<string, BulkJob>> {
    const start: StartBulk = (body, more) => this.bulkDelete(body, more);
    return this.#inBulk('contacts.deleteAll()', ids, start, options);
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
    options?: RequestOptions,
  ): Promise<Contact<Fields>> {
    const id = await idOf((query, more) => this.list(query, more), idOrEmail, options);
    return this.update(id, { subscribed }, options);
  }

  async #inBulk(
    call: string,
    ids: RowSource<string>,
    start: StartBulk,
    options?: BulkAllOptions,
  ): Promise<JobReport<string, BulkJob>> {
    checkRows(ids, call);
    const { wait, onProgress, from, ...rest } = readOptions<BulkAllOptions>(options, manyOptions, {
      name: `\`${call}\``,
    });
    const { signal } = rest;
    return changeMany({
      call,
      signal,
      onProgress,
      from,
      batches: (first) => idBatches(ids, first),
      start: (body) => start(body, asBulk(rest)),
      wait: (jobId) => this.waitForBulkJob(jobId, { ...wait, signal }),
      length: lengthOf(ids),
    });
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the row's own body
  #written<Body>(body: unknown): Body {
    return withEmptyDeleted(toRequestBody<Body>(body, contactBack), this.#rules);
  }

  // The wait repeats a failed check itself.
  #checkOf(route: typeof routes.getImport | typeof routes.getBulkJob, jobId: string) {
    return (signal: AbortSignal | undefined) =>
      this.#transport.send(route, { params: { jobId } }, { signal, retries: 0 });
  }
}

const manyOptions = {
  ...requestOptions,
  wait: group(recordWaitOptions),
  from: wholeNumber(0),
  onProgress: callback<(progress: unknown) => void>(),
};

type StartBulk = (body: ContactSelection, options: RequestOptions) => Call<JobStarted>;

// Bulk calls go after interactive ones.
function asBulk(options: RequestOptions): RequestOptions {
  return { ...options, priority: options.priority ?? 'bulk' };
}
