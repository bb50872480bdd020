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
import { fingerprint, isRecord } from '../../core/values.js';
import { wireValue } from '../../core/body.js';
import { kindOf } from '../../core/request.js';
import { canonical, type OnceKey, journalMissing, keyIn } from '../../core/once.js';
import { asBulk } from '../bulk.js';
import { emailIn, emailProblem, normalizeAddress } from '../shared/values.js';
import { isTransient, transient, type DataValue } from '../shared/data.js';
import { isReadContact, isReadRecord, recordFields, type Contact } from '../shared/read-record.js';
import { fieldsOf } from '../shared/request-body.js';
import { encodeAttachments, hasFiles } from './attachments.js';
import { iterable, lengthOf, untilAborted, type RowSource } from '../shared/row-source.js';
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
 * merged with those of the common email; the other fields replace the common ones, and a `template` drops the common
 * `subject` and `body`. A row is a record: its `subscribed` is never sent, and a recipient with `false` is skipped.
 * A row with any other field fails, except that `id`, `createdAt`, `updatedAt` and `_meta` are left out.
 */
export type EachRecipient<Fields extends object = object> =
  string | EachRecipientMail<Fields> | Contact<Fields>;

/** A recipient with fields of the email. */
export interface EachRecipientMail<Fields extends object>
  extends
    NamedAddress,
    Partial<Omit<ContentSend<Fields>, 'to' | 'name' | 'template' | 'subscribed'>>,
    Pick<Partial<TemplateSend<Fields>>, 'template'> {
  /** Whether the recipient was subscribed when the row was read. Never sent; `false`: the recipient is skipped. */
  subscribed?: boolean | undefined;
  /** Tells this email from others to the same address, such as the number of an invoice. Needs `once` of the call. */
  once?: string;
  /** Left out, as are `createdAt`, `updatedAt` and `_meta`. */
  id?: unknown;
  createdAt?: unknown;
  updatedAt?: unknown;
  _meta?: unknown;
}

/** An email for many. */
export type EachMessage<Fields extends object = object> =
  Omit<TemplateSend<Fields>, 'to'> | Omit<ContentSend<Fields>, 'to'>;

/** What became of the email to one recipient. */
export type EachResult =
  | {
      readonly email: string;
      readonly status: 'sent';
      /** The id of the email. */
      readonly id: string;
      /** Whether an earlier run, or an earlier one of the recipients, has had it already. */
      readonly isEarlier: boolean;
    }
  /** The email was certainly not sent; another run with the same `once` tries again. */
  | { readonly email: string; readonly status: 'failed'; readonly error: unknown }
  /** The email may have been sent: its answer was lost, now or in an earlier run. */
  | { readonly email: string; readonly status: 'unknown'; readonly error: unknown }
  /** The row has `subscribed: false`, and the email was not sent. */
  | { readonly email: string; readonly status: 'skipped' };

/** How to send an email to many. */
export interface SendEachOptions extends Omit<RequestOptions, 'once'> {
  /**
   * Your own name for this email, the same in every run: `'news-2027-03'`. Each recipient gets it once
   * under this name, across crashes and hosts, also where its text was corrected meanwhile. It needs a
   * client with a `journal`.
   */
  once?: string;
  /**
   * What to do about recipients of an earlier run for whom it is unknown whether they have the email:
   * `'list'` leaves them out, `'send'` mails them again. Never use `'send'` while another run goes on.
   * @default 'list'
   */
  unknown?: 'list' | 'send' | undefined;
  /**
   * Also mails the recipients whose row has `subscribed: false`, for emails that everybody must get.
   * @default false
   */
  includeUnsubscribed?: boolean | undefined;
  /**
   * How many emails are under way at once. After a crash so many at most are unknown.
   * @default 10
   */
  concurrency?: number | undefined;
  /**
   * The first recipient to mail, from 0: the `resumeFrom` of a run that ended early.
   * @default 0
   */
  from?: number | undefined;
  /** Called with what became of each email. What it throws is ignored. */
  onResult?: ((result: EachResult) => void) | undefined;
}

/**
 * What became of an email to many. `done` is the number of recipients who have it; those of `unknown` are
 * mailed again only with `unknown: 'send'`.
 */
export interface SendEachReport<Row = EachRecipient> extends Report<Row> {
  /** How many of `done` this run has sent. */
  sent: number;
  /** How many of `done` had it already. */
  earlier: number;
  /** The rows with `subscribed: false`: they were not mailed. */
  skipped: { row: Row; index: number }[];
}

/** What a run asks of its client. */
export interface EachHost<Fields extends object> {
  /** Sends one email, under a key where it has one. */
  sendUnder(
    once: OnceKey | undefined,
    body: SendRequest<Fields>,
    options: RequestOptions,
  ): Call<SendResult>;
  /** The email in the form in which it is sent, except for its files. */
  toRequest<Body>(body: Body): Body;
  /** Emits a `warning`. */
  warn(message: string): void;
}

/** Sends an email to each recipient once, a few at a time, and reports what became of each. */
export async function sendEach<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
  message: EachMessage<Fields>,
  options: SendEachOptions,
  host: EachHost<Fields>,
): Promise<SendEachReport<EachRecipient<Fields>>> {
  const run = new EachRun(message, options, host);
  const total = lengthOf(recipients);
  try {
    for await (const row of untilAborted(rowsOf(recipients), options.signal)) {
      await run.begin(row);
    }
    await run.end();
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

/** The options of `sendEach()`, checked. */
export function readEachOptions(
  given: SendEachOptions | undefined,
  hasJournal: boolean,
): SendEachOptions {
  const options = readOptions(given, kinds, { name: '`sendEach()`', isStrict: true });
  if (!given || !('once' in given)) {
    return options;
  }
  const once = keyIn(given);
  if (!hasJournal) {
    throw journalMissing('`sendEach()` with `once`');
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

/** A row with its place in the input. */
interface Row<Fields extends object> {
  readonly index: number;
  readonly row: EachRecipient<Fields>;
}

/** The email to one recipient. */
interface RecipientMail<Fields extends object> {
  /** The address as the row has it. */
  readonly email: string;
  /** The normalized address, and the recipient's `once` if it has one: one email each in a run with `once`. */
  readonly identity: string;
  readonly body: SendRequest<Fields>;
  /** The fingerprint of the request, without the recipient and without the `data` of a record. */
  readonly content: string;
}

/** An email of this run, so that a row that is listed twice is mailed once. */
interface MailedContent {
  readonly content: string;
  /** `undefined` where it was certainly not sent by this run. */
  readonly result: EachResult | undefined;
  /** The email with other content to the same address before this one. */
  readonly before: MailedContent | undefined;
}

class EachRun<Fields extends object> {
  readonly report: SendEachReport<EachRecipient<Fields>>;
  /** The first row that was not begun. */
  next: number;
  readonly #from: number;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #host: EachHost<Fields>;
  readonly #rest: RequestOptions;
  readonly #once: string | undefined;
  readonly #sendsUnknown: boolean;
  readonly #includesUnsubscribed: boolean;
  readonly #onResult: SendEachOptions['onResult'];
  readonly #maxAtOnce: number;
  /** By identity: the last email of this run, which leads to the ones before. */
  readonly #mailed = new Map<string, MailedContent>();
  readonly #underWay = new Map<string, Promise<void>>();
  #mailedTwice = 0;
  #fatal: { readonly reason: unknown } | undefined;

  constructor(message: EachMessage<Fields>, options: SendEachOptions, host: EachHost<Fields>) {
    const { once, unknown, includeUnsubscribed, concurrency = 10, from = 0, ...others } = options;
    const { onResult, ...rest } = others;
    this.#once = once;
    this.#sendsUnknown = unknown === 'send';
    this.#includesUnsubscribed = includeUnsubscribed === true;
    this.#from = from;
    this.next = from;
    this.report = { done: 0, sent: 0, earlier: 0, failed: [], unknown: [], skipped: [] };
    this.#common = isRecord(message) ? host.toRequest(fieldsOf(message)) : {};
    this.#host = host;
    this.#rest = asBulk(rest);
    this.#maxAtOnce = concurrency;
    this.#onResult = onResult;
    const { subscribed } = this.#common;
    if (typeof subscribed === 'boolean') {
      host.warn(commonSubscribed(subscribed));
    }
  }

  /** Resolves when every email that was begun has its result. */
  async end(): Promise<void> {
    await Promise.all(this.#underWay.values());
    this.#throwIfOver();
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

  /** Mails one recipient, once fewer than the maximum are under way. Only reads the rows before `from`. */
  async begin({ row, index }: Row<Fields>): Promise<void> {
    const isRead = index < this.#from;
    if (isRead && this.#once === undefined) {
      return; // compared with nothing
    }
    const mail = await this.#mailFor(row, index);
    if (isRead) {
      if ('body' in mail && !this.#mailed.has(mail.identity)) {
        this.#remember(mail, undefined);
      }
      return;
    }
    // The first email of a row that is listed twice has its result by then.
    const identity = 'body' in mail ? mail.identity : '';
    while (this.#underWay.size >= this.#maxAtOnce || this.#underWay.has(identity)) {
      await Promise.race(this.#underWay.values());
    }
    this.#throwIfOver();
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
    const sending = this.#send(mail, { row, index }).finally(() => this.#underWay.delete(identity));
    this.#underWay.set(identity, sending);
  }

  #throwIfOver(): void {
    if (this.#fatal) {
      throw this.#fatal.reason;
    }
  }

  /** The email for a row, or the result of a row that is not mailed. */
  async #mailFor(
    row: EachRecipient<Fields>,
    index: number,
  ): Promise<RecipientMail<Fields> | EachResult> {
    const email = shownAddress(row);
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
      const mail = await this.#bodyFor(given);
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
    const own = keyIn({ once: typeof once === 'string' ? once.trim() : once }).normalize('NFC');
    if (this.#once === undefined) {
      const message =
        'has no effect without the option `once` of `sendEach()`: give the call its `once` too';
      throw invalidRequest([{ field: 'once', message }]);
    }
    return own;
  }

  async #bodyFor(given: Readonly<Record<string, unknown>>) {
    const request: unknown = this.#host.toRequest(bodyOf(this.#common, given));
    const written = request as SendRequest<Fields>; // of the same fields
    // Files are compared by their bytes. Those of the common email are the same for all.
    const hasOwnFiles = given['attachments'] !== undefined && hasFiles(written);
    const body = hasOwnFiles ? await encodeAttachments(written) : written;
    const compared = isReadRecord(given)
      ? { ...body, data: undefined, ...merged('data', this.#common['data'], undefined) }
      : body;
    return { body: body as SendRequest<Fields>, content: contentOf(compared, this.#common) };
  }

  async #send(mail: RecipientMail<Fields>, row: Row<Fields>): Promise<void> {
    const { email, identity, body } = mail;
    let call: Call<SendResult> | undefined;
    try {
      call = this.#host.sendUnder(this.#keyOf(identity), body, this.#rest);
      const { data, replayed = false } = await call.withResponse();
      const id = sentId(data);
      this.#end(mail, row, { email, status: 'sent', id, isEarlier: replayed });
    } catch (error) {
      const outcome = isPostreelError(error) ? error.outcome : call ? call.outcome : 'not-sent';
      const status = outcome === 'not-sent' || outcome === 'rejected' ? 'failed' : 'unknown';
      this.#end(mail, row, { email, status, error });
      if (isPostreelError(error) && isHopeless(error)) {
        this.#fatal ??= { reason: error };
      }
    }
  }

  // Content is not compared between runs: a corrected mailing continues with the others.
  #keyOf(identity: string): OnceKey | undefined {
    return this.#once === undefined
      ? undefined
      : {
          key: `${this.#once}/${fingerprint(identity)}`,
          call: 'sendEach',
          print: '',
          sendsUnknown: this.#sendsUnknown,
          keep: (data) => ({ emails: [{ email: sentId(data) }] }),
        };
  }

  #end(mail: RecipientMail<Fields>, row: Row<Fields>, result: EachResult): void {
    // A recipient whose email failed is tried again where the row is listed again.
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
    const before = last?.content === content ? last.before : last; // replaced where it was tried again
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
  'has other content than an earlier row of this address. Give this row a separate `once`. Leave the rows that were mailed without one unchanged: with a `once` they would be mailed again.';

function commonSubscribed(subscribed: boolean): string {
  return subscribed
    ? '`subscribed: true` of the common email subscribes every recipient, also the people who have unsubscribed. Leave it out to keep their state.'
    : '`subscribed: false` of the common email unsubscribes every recipient. Leave it out to keep their state.';
}

async function* rowsOf<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
): AsyncGenerator<Row<Fields>, void, undefined> {
  let index = 0;
  for await (const row of iterable(recipients)) {
    yield { index, row };
    index += 1;
  }
}

/** The normalized address of a recipient, which has many spellings. */
function addressOf(given: unknown): string | undefined {
  const email = emailIn(normalizeAddress(given)).trim().normalize('NFC').toLowerCase();
  if (email === '') {
    return undefined;
  }
  // A parser of domains drops invisible characters: a bad address would pass for a good one.
  return emailProblem(email) === undefined ? withAsciiDomain(email) : email;
}

function withAsciiDomain(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const url = `http://${domain}`;
  return at < 0 || !URL.canParse(url) ? email : email.slice(0, at + 1) + new URL(url).hostname;
}

/** The address of a row as it is shown in results; empty where the row has none. */
function shownAddress(row: unknown): string {
  try {
    const { email } = recipientOf(row);
    return typeof email === 'string' ? email : '';
  } catch {
    return ''; // its `toJSON` throws
  }
}

function recipientOf(row: unknown): Readonly<Record<string, unknown>> {
  return isRecord(row) ? { ...fieldsOf(row) } : { email: row };
}

/** Does the row say that the recipient has unsubscribed? A value that is not a boolean fails the row. */
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
  // A template has its own subject and body.
  const dropped = given['template'] === undefined ? [] : ['subject', 'body'];
  const kept = Object.entries(common).filter(([field]) => !dropped.includes(field));
  const data = isReadRecord(given) ? recordData(common['data'], given['data']) : given['data'];
  const replaced = own.map((field): [string, unknown] => [field, given[field]]);
  return {
    ...Object.fromEntries<unknown>([...kept, ...replaced]),
    ...merged('data', common['data'], data),
    ...merged('headers', common['headers'], given['headers']),
    to: name === undefined ? email : { email, name },
  };
}

/** The fingerprint of a request, without its recipient. */
function contentOf(body: object, common: Readonly<Record<string, unknown>>): string {
  const entries: [string, unknown][] = Object.entries(body);
  const fields = entries
    .filter(([name, value]) => name !== 'to' && value !== undefined)
    .map(([name, value]) => [name, value === common[name] ? 0 : value]); // 0: long values are not read again
  return fingerprint(canonical(wireValue(Object.fromEntries(fields))));
}

/**
 * The `data` of a record, for this email only: sent as it stands, it would overwrite what has changed since it was
 * read. A field that the common `data` has too must have the same value.
 */
function recordData(common: unknown, own: unknown): Readonly<Record<string, unknown>> {
  const shared = new Map(entriesOf('data', common));
  const fields = entriesOf('data', own).filter(([, value]) => value !== null);
  const different = fields.filter(
    ([name, value]) =>
      shared.has(name) && canonical(valueOf(shared.get(name))) !== canonical(valueOf(value)),
  );
  if (different.length > 0) {
    const message = 'has another value in this record than in the common `data`';
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

/** Refuses a field that an email does not have: the recipient would miss it. */
function refuseUnknown(row: Readonly<Record<string, unknown>>): void {
  const unknown = Object.keys(row).filter(
    (name) => !rowFields.includes(name) && row[name] !== undefined,
  );
  if (unknown.length > 0) {
    const message = 'is no field of an email: what its text shows goes into `data`';
    throw invalidRequest(unknown.map((field) => ({ field, message })));
  }
}

/** A field that has the entries of both, the recipient's over the common ones. */
function merged(
  field: 'data' | 'headers',
  common: unknown,
  own: unknown,
): Readonly<Record<string, unknown>> {
  const [first, over] = [entriesOf(field, common), entriesOf(field, own)];
  // Headers mean the same in capitals.
  const nameOf = (name: string) => (field === 'headers' ? name.toLowerCase() : name);
  const replaced = new Set(over.map(([name]) => nameOf(name)));
  const entries = [...first.filter(([name]) => !replaced.has(nameOf(name))), ...over];
  return entries.length > 0 ? { [field]: Object.fromEntries(entries) } : {};
}

/** A field as it is sent: an entity may have a form of its own. A contact without fields has `null`. */
function entriesOf(field: string, given: unknown): [string, unknown][] {
  const sent = wireValue({ [field]: given ?? {} });
  const value: unknown = isRecord(sent) ? sent[field] : undefined;
  if (!isRecord(value)) {
    throw invalidRequest([{ field, message: `must be an object of fields; got ${kindOf(given)}` }]);
  }
  return Object.entries(value);
}

// A bare yes is a success, though its list is empty; in an answer that says more it means that the recipient was skipped.
function sentId(answer: unknown): string {
  const { emails, ...more } = Object(answer) as Record<string, unknown>; // or nothing
  const saysMore = Object.keys(more).some((name) => name !== 'success');
  if (!Array.isArray(emails) || (emails.length === 0 && !saysMore)) {
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

// A key that is wrong for one recipient is wrong for all, and so is a journal that cannot be written.
function isHopeless({ status, code }: PostreelError): boolean {
  return status === 401 || status === 403 || code === 'JOURNAL_UNAVAILABLE';
}
