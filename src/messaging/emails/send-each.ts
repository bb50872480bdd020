import type { RequestOptions, Call } from '../../core/types.js';
import {
  type Report,
  invalidRequest,
  isPostreelError,
  PartialError,
  UnexpectedResponseError,
  type PostreelError,
} from '../../core/errors.js';
import type {
  ContentSend,
  NamedAddress,
  TemplateSend,
  SendRequest,
  SendResult,
} from '../emails.js';
import { callSafely } from '../../core/async.js';
import { isRecord, kindOf } from '../../core/values.js';
import { fingerprint } from '../../core/fingerprint.js';
import { toJsonValue } from '../../core/call/body.js';
import { misplacedOptions } from '../../core/call/validate.js';
import { toCanonicalJson, type OnceKey, journalMissingError } from '../../core/once/key.js';
import { readOnceKey } from '../../core/once/once.js';
import { describeBeyondRows, setBulkPriority } from '../bulk.js';
import { emailOf, emailProblem, normalizeAddress } from '../shared/values.js';
import { isTransient, transient, type DataValue } from '../shared/data.js';
import { isReadContact, isReadRecord, recordFields, type Contact } from '../shared/read-record.js';
import { fieldsOf } from '../shared/request-body.js';
import { encodeAttachments, hasFiles } from './attachments.js';
import { toIterable, lengthOf, untilAborted, type RowSource } from '../shared/row-source.js';
import {
  anything,
  callback,
  flag,
  oneOf,
  readOptions,
  requestOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';

/**
 * A recipient: an address, an address with fields of the email, or a contact that was read. `data` and `headers` are
 * merged with those of the common email. The other fields replace the common ones, and a `template` drops the common
 * `subject` and `body`. A row is a record: its `subscribed` is never sent, and a recipient with `false` is skipped.
 * `id`, `createdAt`, `updatedAt` and `_meta` are not sent. A row with any other field fails.
 */
export type EachRecipient<Fields extends object = object> =
  string | EachRecipientMail<Fields> | Contact<Fields>;

/** A recipient with fields of the email. */
export interface EachRecipientMail<Fields extends object>
  extends
    NamedAddress,
    Partial<Omit<ContentSend<Fields>, 'to' | 'name' | 'template' | 'subscribed'>>,
    Pick<Partial<TemplateSend<Fields>>, 'template'> {
  /** Whether the recipient was subscribed when the row was read. Never sent. A recipient with `false` is skipped. */
  subscribed?: boolean | undefined;
  /**
   * Distinguishes this email from other emails to the same address, such as the number of an invoice. The call
   * needs its `once` too.
   */
  once?: string;
  /** Never sent. The same holds for `createdAt`, `updatedAt` and `_meta`. */
  id?: unknown;
  createdAt?: unknown;
  updatedAt?: unknown;
  _meta?: unknown;
}

/** The common email of a `sendEach()` call, without the recipient. */
export type EachMessage<Fields extends object = object> =
  Omit<TemplateSend<Fields>, 'to'> | Omit<ContentSend<Fields>, 'to'>;

/** The result of the email to one recipient. */
export type EachResult =
  | {
      readonly email: string;
      readonly status: 'sent';
      /** The id of the email. */
      readonly id: string;
      /** Whether an earlier run, or an earlier row of this run, has already sent this email. */
      readonly isEarlier: boolean;
    }
  /** The email was certainly not sent; another run with the same `once` tries again. */
  | { readonly email: string; readonly status: 'failed'; readonly error: unknown }
  /** The email may have been sent: its response was lost, in this run or in an earlier one. */
  | { readonly email: string; readonly status: 'unknown'; readonly error: unknown }
  /** The row has `subscribed: false`, and the email was not sent. */
  | { readonly email: string; readonly status: 'skipped' };

/** The options of `sendEach()`. */
export interface SendEachOptions extends Omit<RequestOptions, 'once'> {
  /**
   * Your name for this email, the same in every run: `'news-2027-03'`. Each recipient gets one email
   * under this name, across crashes and hosts, even if its text was corrected between the runs. It needs a
   * client with a `journal`.
   */
  once?: string;
  /**
   * How to treat recipients of an earlier run for whom it is unknown whether they have the email:
   * `'list'` does not mail them, `'send'` mails them again. Never use `'send'` while another run is active.
   * @default 'list'
   */
  unknown?: 'list' | 'send' | undefined;
  /**
   * Also mails the recipients whose row has `subscribed: false`, for emails that everybody must get.
   * @default false
   */
  includeUnsubscribed?: boolean | undefined;
  /**
   * The maximum number of emails in flight. After a crash, at most this many are unknown.
   * @default 10
   */
  concurrency?: number | undefined;
  /**
   * The index of the first recipient to mail, from 0. Pass the `resumeFrom` of a run that ended early.
   * @default 0
   */
  from?: number | undefined;
  /** Called with the result of each email. Errors that it throws are ignored. */
  onResult?: ((result: EachResult) => void) | undefined;
}

/**
 * The report of a `sendEach()` run. `done` is the number of recipients who have the email. The recipients in
 * `unknown` are mailed again only with `unknown: 'send'`.
 */
export interface SendEachReport<IndexedRow = EachRecipient> extends Report<IndexedRow> {
  /** The part of `done` that this run sent. */
  sent: number;
  /** The part of `done` that had the email before. */
  earlier: number;
  /** The rows with `subscribed: false`: they were not mailed. */
  skipped: { row: IndexedRow; index: number }[];
}

/** The functions of the client that a run calls. */
export interface SendEachHost<Fields extends object> {
  /** Sends one email, with its key in the journal if `once` is given. */
  sendWithKey(
    once: OnceKey | undefined,
    body: SendRequest<Fields>,
    options: RequestOptions,
  ): Call<SendResult>;
  /** Returns the email in the form in which it is sent, except for its files. */
  toRequest<Body>(body: Body): Body;
  /** Emits a `warning`. */
  warn(message: string): void;
}

/** Sends an email to each recipient once, a few at a time, and reports each result. */
export async function sendEach<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
  message: EachMessage<Fields>,
  options: SendEachOptions,
  host: SendEachHost<Fields>,
): Promise<SendEachReport<EachRecipient<Fields>>> {
  const run = new EachRun(message, options, host);
  const total = lengthOf(recipients);
  try {
    for await (const row of untilAborted(rowsOf(recipients), options.signal)) {
      await run.begin(row);
    }
    await run.end();
    const { from = 0 } = options;
    if (from > 0 && run.next === from) {
      host.warn(describeBeyondRows('sendEach()', from, total));
    }
  } catch (cause) {
    await run.end().catch(() => undefined); // the first error says more
    const resumeFrom = run.next;
    const notReached = total === undefined ? undefined : Math.max(0, total - resumeFrom);
    throw new PartialError('sendEach()', { ...run.report, notReached, resumeFrom }, cause);
  } finally {
    run.warn();
  }
  return run.report;
}

/** Checks the options of `sendEach()`. */
export function readEachOptions(
  given: SendEachOptions | undefined,
  hasJournal: boolean,
): SendEachOptions {
  const options = readOptions(given, kinds, { name: '`sendEach()`', isStrict: true });
  if (!given || !('once' in given)) {
    return options;
  }
  const once = readOnceKey(given);
  if (!hasJournal) {
    throw journalMissingError('`sendEach()` with `once`');
  }
  return { ...options, once };
}

const kinds: OptionKinds<SendEachOptions> = {
  ...requestOptions,
  once: anything(), // its own check says more
  unknown: oneOf('list', 'send'),
  includeUnsubscribed: flag,
  concurrency: wholeNumber(1),
  from: wholeNumber(0),
  onResult: callback(),
};

/** A row with its index in the input. */
interface Row<Fields extends object> {
  readonly index: number;
  readonly row: EachRecipient<Fields>;
}

/** The email to one recipient. */
interface RecipientMail<Fields extends object> {
  /** The address as the row has it. */
  readonly email: string;
  /**
   * The normalized address, followed by the recipient's `once` if it has one. A run with `once` sends one email
   * per identity.
   */
  readonly identity: string;
  readonly body: SendRequest<Fields>;
  /** The fingerprint of the request, without the recipient and without the `data` of a record. */
  readonly content: string;
}

/** An email of this run. It is remembered so that a row that is listed twice is mailed once. */
interface MailedContent {
  readonly content: string;
  /** `undefined` if this run certainly did not send the email. */
  readonly result: EachResult | undefined;
  /** The previous email to the same identity, with other content. */
  readonly before: MailedContent | undefined;
}

class EachRun<Fields extends object> {
  readonly report: SendEachReport<EachRecipient<Fields>>;
  /** The first row that was not begun. */
  next: number;
  readonly #from: number;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #host: SendEachHost<Fields>;
  readonly #rest: RequestOptions;
  readonly #once: string | undefined;
  readonly #sendsUnknown: boolean;
  readonly #includesUnsubscribed: boolean;
  readonly #onResult: SendEachOptions['onResult'];
  readonly #maxInFlight: number;
  /** The last email of this run by identity. Its `before` leads to the earlier ones. */
  readonly #mailed = new Map<string, MailedContent>();
  readonly #inFlight = new Map<string, Promise<void>>();
  #mailedTwice = 0;
  #fatal: { readonly reason: unknown } | undefined;

  constructor(message: EachMessage<Fields>, options: SendEachOptions, host: SendEachHost<Fields>) {
    const { once, unknown, includeUnsubscribed, concurrency = 10, from = 0, ...others } = options;
    const { onResult, ...rest } = others;
    this.#once = once;
    this.#sendsUnknown = unknown === 'send';
    this.#includesUnsubscribed = includeUnsubscribed === true;
    this.#from = from;
    this.next = from;
    this.report = { done: 0, sent: 0, earlier: 0, failed: [], unknown: [], skipped: [] };
    this.#common = isRecord(message) ? host.toRequest(fieldsOf(message)) : {};
    const misplaced = misplacedOptions(this.#common, mailFields);
    if (misplaced.length > 0) {
      throw invalidRequest(misplaced);
    }
    this.#host = host;
    this.#rest = setBulkPriority(rest);
    this.#maxInFlight = concurrency;
    this.#onResult = onResult;
    const { subscribed } = this.#common;
    if (typeof subscribed === 'boolean') {
      host.warn(subscribedWarning(subscribed));
    }
  }

  /** Waits until every email in flight has its result. Throws the error that ended the run, if there is one. */
  async end(): Promise<void> {
    await Promise.all(this.#inFlight.values());
    this.#throwIfEnded();
  }

  /** Emits the warnings about the whole run. */
  warn(): void {
    const skipped = this.report.skipped.length;
    if (skipped > 0) {
      this.#host.warn(
        `\`sendEach()\` did not mail ${skipped} of the rows: they have \`subscribed: false\`. \`includeUnsubscribed: true\` mails them too.`,
      );
    }
    if (this.#mailedTwice > 0) {
      this.#host.warn(
        `\`sendEach()\` mailed ${this.#mailedTwice} of the addresses more than once: they have several rows with different content.`,
      );
    }
  }

  /**
   * Starts the email to one recipient, as soon as fewer than `concurrency` emails are in flight. A row before
   * `from` is not mailed: it is only remembered, so that later rows are compared with it.
   */
  async begin({ row, index }: Row<Fields>): Promise<void> {
    const isBeforeFrom = index < this.#from;
    if (isBeforeFrom && this.#once === undefined) {
      return; // without `once`, later rows are not compared with the rows before `from`
    }
    const mail = await this.#buildMail(row, index);
    if (isBeforeFrom) {
      if ('body' in mail && !this.#mailed.has(mail.identity)) {
        this.#remember(mail, undefined);
      }
      return;
    }
    // Wait for an email to the same identity too: the second of two equal rows needs the result of the first.
    const identity = 'body' in mail ? mail.identity : '';
    while (this.#inFlight.size >= this.#maxInFlight || this.#inFlight.has(identity)) {
      await Promise.race(this.#inFlight.values());
    }
    this.#throwIfEnded();
    this.#rest.signal?.throwIfAborted();
    this.next = index + 1;
    if (!('body' in mail)) {
      this.#report({ row, index }, mail);
      return;
    }
    const known = this.#find(mail);
    if (known?.result) {
      const { result } = known;
      const isSent = result.status === 'sent';
      this.#report({ row, index }, isSent ? { ...result, isEarlier: true } : result);
      return;
    }
    if (this.#once !== undefined && !known && this.#mailed.has(identity)) {
      const error = invalidRequest([{ field: `recipients[${index}]`, message: otherContent }]);
      this.#report({ row, index }, { email: mail.email, status: 'failed', error });
      return;
    }
    const sending = this.#send(mail, { row, index }).finally(() => this.#inFlight.delete(identity));
    this.#inFlight.set(identity, sending);
  }

  #throwIfEnded(): void {
    if (this.#fatal) {
      throw this.#fatal.reason;
    }
  }

  /** Builds the email for a row. Returns a result instead if the row is skipped or invalid. */
  async #buildMail(
    row: EachRecipient<Fields>,
    index: number,
  ): Promise<RecipientMail<Fields> | EachResult> {
    const email = givenAddressOf(row);
    try {
      const given = recipientOf(row);
      if (isSkipped(given) && !this.#includesUnsubscribed) {
        return { email, status: 'skipped' };
      }
      const address = addressOf(given['email']);
      if (address === undefined) {
        const message = `must be an address or { email }; got ${kindOf(given['email'])}`;
        throw invalidRequest([{ field: `recipients[${index}]`, message }]);
      }
      const once = this.#onceOf(given);
      const identity = once === undefined ? address : `${address}\n${once}`;
      const mail = await this.#buildBody(given);
      return { email, identity, ...mail };
    } catch (error) {
      return { email, status: 'failed', error };
    }
  }

  #onceOf(given: Readonly<Record<string, unknown>>): string | undefined {
    if (!('once' in given)) {
      return undefined;
    }
    const { once } = given;
    const own = readOnceKey({ once: typeof once === 'string' ? once.trim() : once }).normalize(
      'NFC',
    );
    if (this.#once === undefined) {
      const message =
        'has no effect without the option `once` of `sendEach()`: give the call its `once` too';
      throw invalidRequest([{ field: 'once', message }]);
    }
    return own;
  }

  async #buildBody(given: Readonly<Record<string, unknown>>) {
    const request: unknown = this.#host.toRequest(bodyOf(this.#common, given));
    const written = request as SendRequest<Fields>; // `toRequest` keeps the fields
    // Files are compared by their bytes, so the row's files are encoded now. The common files are the same for all.
    const hasOwnFiles = given['attachments'] !== undefined && hasFiles(written);
    const body = hasOwnFiles ? await encodeAttachments(written) : written;
    const compared = isReadRecord(given)
      ? { ...body, data: undefined, ...mergeFields('data', this.#common['data'], undefined) }
      : body;
    return { body, content: contentOf(compared, this.#common) };
  }

  async #send(mail: RecipientMail<Fields>, row: Row<Fields>): Promise<void> {
    const { email, identity, body } = mail;
    let call: Call<SendResult> | undefined;
    try {
      call = this.#host.sendWithKey(this.#keyOf(identity), body, this.#rest);
      const { data, replayed = false } = await call.withResponse();
      const id = emailIdOf(data);
      this.#end(mail, row, { email, status: 'sent', id, isEarlier: replayed });
    } catch (error) {
      const outcome = isPostreelError(error) ? error.outcome : call ? call.outcome : 'not-sent';
      const status = outcome === 'not-sent' || outcome === 'rejected' ? 'failed' : 'unknown';
      this.#end(mail, row, { email, status, error });
      if (isPostreelError(error) && endsRun(error)) {
        this.#fatal ??= { reason: error };
      }
    }
  }

  // The fingerprint of the content is left empty: a later run may send corrected text to the remaining recipients.
  #keyOf(identity: string): OnceKey | undefined {
    return this.#once === undefined
      ? undefined
      : {
          key: `${this.#once}/${fingerprint(identity)}`,
          call: 'sendEach',
          contentHash: '',
          sendsUnknown: this.#sendsUnknown,
          keep: (data) => ({ emails: [{ email: emailIdOf(data) }] }),
        };
  }

  #end(mail: RecipientMail<Fields>, row: Row<Fields>, result: EachResult): void {
    // A failed email has no result to reuse: if the row is listed again, it is sent again.
    if (result.status !== 'failed') {
      this.#remember(mail, result);
    } else if (this.#once !== undefined) {
      this.#remember(mail, undefined);
    }
    this.#report(row, result);
  }

  #find({ identity, content }: RecipientMail<Fields>): MailedContent | undefined {
    let mailed = this.#mailed.get(identity);
    while (mailed && mailed.content !== content) {
      mailed = mailed.before;
    }
    return mailed;
  }

  #remember({ identity, content }: RecipientMail<Fields>, result: EachResult | undefined): void {
    const last = this.#mailed.get(identity);
    const before = last?.content === content ? last.before : last; // a retry of the same email replaces its entry
    this.#mailed.set(identity, { content, result, before });
    if (before && !before.before) {
      this.#mailedTwice += 1;
    }
  }

  #report({ row, index }: Row<Fields>, result: EachResult): void {
    if (result.status === 'sent') {
      this.report.done += 1;
      this.report[result.isEarlier ? 'earlier' : 'sent'] += 1;
    } else if (result.status === 'skipped') {
      this.report.skipped.push({ row, index });
    } else {
      this.report[result.status].push({ row, index, error: result.error });
    }
    callSafely(() => this.#onResult?.(result));
  }
}

const otherContent =
  'has different content from an earlier row with this address. Give this row a separate `once`. Leave the rows that were mailed without one unchanged: with a `once` they would be mailed again.';

function subscribedWarning(subscribed: boolean): string {
  return subscribed
    ? '`subscribed: true` of the common email subscribes every recipient, also the people who have unsubscribed. Leave it out to keep their state.'
    : '`subscribed: false` of the common email unsubscribes every recipient. Leave it out to keep their state.';
}

async function* rowsOf<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
): AsyncGenerator<Row<Fields>, void, undefined> {
  let index = 0;
  for await (const row of toIterable(recipients)) {
    yield { index, row };
    index += 1;
  }
}

/** Returns one normalized form for all spellings of a recipient's address, or `undefined` if it is empty. */
function addressOf(given: unknown): string | undefined {
  const email = emailOf(normalizeAddress(given)).trim().normalize('NFC').toLowerCase();
  if (email === '') {
    return undefined;
  }
  // Only valid addresses reach the URL parser: it drops invisible characters, so a bad address would look good.
  return emailProblem(email) === undefined ? toAsciiDomain(email) : email;
}

function toAsciiDomain(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const url = `http://${domain}`;
  return URL.canParse(url) ? email.slice(0, at + 1) + new URL(url).hostname : email;
}

/** Returns the address of a row for its result, or an empty string if the row has none. */
function givenAddressOf(row: unknown): string {
  try {
    const { email } = recipientOf(row);
    return typeof email === 'string' ? email : '';
  } catch {
    return ''; // the `toJSON` of the row threw
  }
}

function recipientOf(row: unknown): Readonly<Record<string, unknown>> {
  return isRecord(row) ? { ...fieldsOf(row) } : { email: row };
}

/** Whether the row has `subscribed: false`. A value that is not a boolean fails the row. */
function isSkipped({ subscribed }: Readonly<Record<string, unknown>>): boolean {
  if (subscribed !== undefined && typeof subscribed !== 'boolean') {
    const got = typeof subscribed === 'string' ? `'${subscribed}'` : kindOf(subscribed);
    const message = `must be true, false or left out; got ${got}`;
    throw invalidRequest([{ field: 'subscribed', message }]);
  }
  return subscribed === false;
}

const mailFields = ['from', 'subject', 'body', 'template', 'reply', 'attachments'];
const otherFields = ['email', 'name', 'data', 'headers', 'once', 'subscribed'];
const rowFields = [...mailFields, ...recordFields, ...otherFields];

function bodyOf(
  common: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { email, name } = given;
  if (!isReadContact(given)) {
    refuseUnknown(given);
  }
  const own = mailFields.filter((field) => given[field] !== undefined);
  // A template brings its subject and body, so the common ones are dropped.
  const dropped = given['template'] === undefined ? [] : ['subject', 'body'];
  const kept = Object.entries(common).filter(([field]) => !dropped.includes(field));
  const data = isReadRecord(given) ? transientDataOf(common['data'], given['data']) : given['data'];
  const replaced = own.map((field): [string, unknown] => [field, given[field]]);
  return {
    ...Object.fromEntries<unknown>([...kept, ...replaced]),
    ...mergeFields('data', common['data'], data),
    ...mergeFields('headers', common['headers'], given['headers']),
    to: name === undefined ? email : { email, name },
  };
}

/** Returns the fingerprint of a request, without its recipient. */
function contentOf(body: object, common: Readonly<Record<string, unknown>>): string {
  const entries: [string, unknown][] = Object.entries(body);
  const fields = entries
    .filter(([name, value]) => name !== 'to' && value !== undefined)
    .map(([name, value]) => [name, value === common[name] ? 0 : value]); // 0 stands for a common value, which may be long
  return fingerprint(toCanonicalJson(toJsonValue(Object.fromEntries(fields))));
}

/**
 * Marks the `data` of a record as transient, so that only this email uses it. Stored values would overwrite changes
 * that the contact got since the record was read. A field that the common `data` has too must have the same value.
 */
function transientDataOf(common: unknown, own: unknown): Readonly<Record<string, unknown>> {
  const shared = new Map(entriesOf('data', common));
  const fields = entriesOf('data', own).filter(([, value]) => value !== null);
  const different = fields.filter(
    ([name, value]) =>
      shared.has(name) &&
      toCanonicalJson(valueOf(shared.get(name))) !== toCanonicalJson(valueOf(value)),
  );
  if (different.length > 0) {
    const message = 'has a different value in this record and in the common `data`';
    throw invalidRequest(different.map(([name]) => ({ field: `data.${name}`, message })));
  }
  const added = fields.filter(([name]) => !shared.has(name));
  return Object.fromEntries(
    added.map(([name, value]) => [name, transient(valueOf(value) as DataValue)]),
  );
}

function valueOf(value: unknown): unknown {
  return isTransient(value) ? (value as { value: unknown }).value : value;
}

/** Rejects a field that an email does not have: its value would be missing in the email. */
function refuseUnknown(row: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(row).filter(
    (name) => !rowFields.includes(name) && row[name] !== undefined,
  );
  if (unknown.length > 0) {
    const message = 'is not a field of an email: put variables of its text into `data`';
    throw invalidRequest(unknown.map((field) => ({ field, message })));
  }
}

/** Merges the entries of both values into one field. The recipient's entries replace the common ones. */
function mergeFields(
  field: 'data' | 'headers',
  common: unknown,
  own: unknown,
): Readonly<Record<string, unknown>> {
  const [first, over] = [entriesOf(field, common), entriesOf(field, own)];
  // The names of headers are case-insensitive.
  const nameOf = (name: string) => (field === 'headers' ? name.toLowerCase() : name);
  const replaced = new Set(over.map(([name]) => nameOf(name)));
  const entries = [...first.filter(([name]) => !replaced.has(nameOf(name))), ...over];
  return entries.length > 0 ? { [field]: Object.fromEntries(entries) } : {};
}

/**
 * Returns the entries of a field in the form in which it is sent: a value may have its own `toJSON`. A contact
 * without fields has `null`, which counts as no entries.
 */
function entriesOf(field: string, given: unknown): [string, unknown][] {
  const sent = toJsonValue({ [field]: given ?? {} });
  const value: unknown = isRecord(sent) ? sent[field] : undefined;
  if (!isRecord(value)) {
    throw invalidRequest([{ field, message: `must be an object of fields; got ${kindOf(given)}` }]);
  }
  return Object.entries(value);
}

/**
 * Returns the id of the sent email, or an empty string if the response names none.
 *
 * | response                                | meaning                                 |
 * | --------------------------------------- | --------------------------------------- |
 * | no list `emails`                        | sent                                    |
 * | an empty list, alone or with `success`  | sent                                    |
 * | an empty list and other fields          | the recipient was skipped: an error     |
 * | a list with an entry                    | sent, with the entry's id               |
 */
function emailIdOf(answer: unknown): string {
  const { emails, ...more } = Object(answer) as Record<string, unknown>; // the response may be of any type
  const hasOtherFields = Object.keys(more).some((name) => name !== 'success');
  if (!Array.isArray(emails) || (emails.length === 0 && !hasOtherFields)) {
    return '';
  }
  const [first] = emails as unknown[];
  if (first === undefined) {
    throw new UnexpectedResponseError(
      'POST /v1/send took the request but sent no email to this recipient.',
      { code: 'RECIPIENT_SKIPPED', outcome: 'rejected', method: 'POST', path: '/v1/send' },
    );
  }
  const id: unknown = isRecord(first) ? first['email'] : undefined;
  return typeof id === 'string' ? id : '';
}

// Errors that every further recipient would get too: a rejected API key, or a journal that cannot be written.
function endsRun({ status, code }: PostreelError): boolean {
  return status === 401 || status === 403 || code === 'JOURNAL_UNAVAILABLE';
}
