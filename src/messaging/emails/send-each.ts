import type { RequestOptions, Call } from '../../core/types.js';
import {
  type Report,
  invalidRequest,
  isPostreelError,
  PartialError,
  UnexpectedResponseError,
  type PostreelError,
} from '../../core/errors.js';
import {
  documented,
  emailIn,
  type ContentSend,
  type NamedAddress,
  type TemplateSend,
  type SendRequest,
  type SendResult,
} from '../emails.js';
import { callSafely } from '../../core/async.js';
import { fingerprint, isRecord } from '../../core/values.js';
import { wireValue } from '../../core/body.js';
import { kindOf } from '../../core/request.js';
import { type OnceKey, journalMissing, keyIn } from '../../core/once.js';
import { asBulk } from '../bulk.js';
import { fieldsOf } from '../shared/request-body.js';
import { iterable, lengthOf, untilAborted, type RowSource } from '../shared/row-source.js';
import {
  anything,
  callback,
  oneOf,
  readOptions,
  requestOptions,
  wholeNumber,
  type OptionKinds,
} from '../../core/options.js';

/**
 * Whom to mail: an address, with fields of the email of its own if you like. `data` and `headers` go over
 * those of the common email, field by field; the others replace it, and with a `template` of its own a
 * recipient gets no common `subject` and `body`. Any other field fails the row, except those that a contact has
 * (`id`, `createdAt`, `updatedAt`, `_meta`), which are left out.
 */
export type EachRecipient<Fields extends object = object> = string | EachRecipientMail<Fields>;

/** A recipient with fields of the email of its own. */
export interface EachRecipientMail<Fields extends object>
  extends
    NamedAddress,
    Partial<Omit<ContentSend<Fields>, 'to' | 'name' | 'template'>>,
    Pick<Partial<TemplateSend<Fields>>, 'template'> {}

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
  | { readonly email: string; readonly status: 'unknown'; readonly error: unknown };

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
}

/** What a run asks of its client. */
export interface EachHost<Fields extends object> {
  /** Sends one email, under a key where it has one. */
  sendUnder(
    once: OnceKey | undefined,
    body: SendRequest<Fields>,
    options: RequestOptions,
  ): Call<SendResult>;
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
    for await (const row of untilAborted(rowsOf(recipients, run.from), options.signal)) {
      await run.begin(row);
    }
    await run.end();
  } catch (cause) {
    await run.end().catch(() => undefined); // the first error says more
    const resumeFrom = run.next;
    const notReached = total === undefined ? undefined : Math.max(0, total - resumeFrom);
    throw new PartialError('sendEach()', { ...run.report, notReached, resumeFrom }, cause);
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
  concurrency: wholeNumber(1),
  from: wholeNumber(0),
  onResult: callback(),
};

type Recipient<Fields extends object> = Exclude<EachRecipient<Fields>, string>;

/** A recipient with its place in the input. */
interface Row<Fields extends object> {
  readonly index: number;
  readonly row: EachRecipient<Fields>;
}

class EachRun<Fields extends object> {
  readonly from: number;
  readonly report: SendEachReport<EachRecipient<Fields>>;
  /** The first row that was not begun. */
  next: number;
  readonly #message: EachMessage<Fields>;
  readonly #host: EachHost<Fields>;
  readonly #rest: RequestOptions;
  readonly #once: string | undefined;
  readonly #sendsUnknown: boolean;
  readonly #onResult: SendEachOptions['onResult'];
  readonly #maxAtOnce: number;
  /** What became of the recipients of this run, so that one who is listed twice is mailed once. */
  readonly #known = new Map<string, EachResult>();
  readonly #underWay = new Map<string, Promise<void>>();
  #fatal: { readonly reason: unknown } | undefined;

  constructor(message: EachMessage<Fields>, options: SendEachOptions, host: EachHost<Fields>) {
    const { once, unknown, concurrency = 10, from = 0, onResult, ...rest } = options;
    this.#once = once;
    this.#sendsUnknown = unknown === 'send';
    this.from = from;
    this.next = from;
    this.report = { done: 0, sent: 0, earlier: 0, failed: [], unknown: [] };
    this.#message = message;
    this.#host = host;
    this.#rest = asBulk(rest);
    this.#maxAtOnce = concurrency;
    this.#onResult = onResult;
  }

  /** Resolves when all that was begun is over and written down. */
  async end(): Promise<void> {
    await Promise.all(this.#underWay.values());
    this.#throwIfOver();
  }

  /** Mails one recipient, once fewer than so many are under way. */
  async begin(row: Row<Fields>): Promise<void> {
    const email = addressOf(row.row);
    // One who is listed twice is known by then.
    while (this.#underWay.size >= this.#maxAtOnce || this.#underWay.has(email ?? '')) {
      await Promise.race(this.#underWay.values());
    }
    this.#throwIfOver();
    this.#rest.signal?.throwIfAborted();
    this.next = row.index + 1;
    if (email === undefined) {
      this.#report(row, { email: '', status: 'failed', error: noAddress(row) });
      return;
    }
    const known = this.#known.get(email);
    if (known) {
      this.#report(row, known.status === 'sent' ? { ...known, isEarlier: true } : known);
      return;
    }
    const sending = this.#sendTo(row, email).finally(() => this.#underWay.delete(email));
    this.#underWay.set(email, sending);
  }

  #throwIfOver(): void {
    if (this.#fatal) {
      throw this.#fatal.reason;
    }
  }

  async #sendTo(row: Row<Fields>, email: string): Promise<void> {
    let call: Call<SendResult> | undefined;
    try {
      const recipient = recipientOf(row.row);
      const body = bodyOf(this.#message, recipient);
      call = this.#host.sendUnder(this.#keyOf(email), body, this.#rest);
      const { data, replayed = false } = await call.withResponse();
      const id = sentId(data);
      this.#end(row, email, { email: recipient.email, status: 'sent', id, isEarlier: replayed });
    } catch (error) {
      const outcome = isPostreelError(error) ? error.outcome : call ? call.outcome : 'not-sent';
      const status = outcome === 'not-sent' || outcome === 'rejected' ? 'failed' : 'unknown';
      this.#end(row, email, { email: shownAddress(row.row), status, error });
      if (isPostreelError(error) && isHopeless(error)) {
        this.#fatal ??= { reason: error };
      }
    }
  }

  // The same address once, whatever its mail says by now: a corrected mailing goes on with the others.
  #keyOf(email: string): OnceKey | undefined {
    return this.#once === undefined
      ? undefined
      : {
          key: `${this.#once}/${fingerprint(email)}`,
          call: 'sendEach',
          print: '',
          sendsUnknown: this.#sendsUnknown,
          keep: (data) => ({ emails: [{ email: sentId(data) }] }),
        };
  }

  // One that failed is tried again where it is listed again.
  #end(row: Row<Fields>, email: string, result: EachResult): void {
    if (result.status !== 'failed') {
      this.#known.set(email, result);
    }
    this.#report(row, result);
  }

  #report({ row, index }: Row<Fields>, result: EachResult): void {
    if (result.status === 'sent') {
      this.report.done += 1;
      this.report[result.isEarlier ? 'earlier' : 'sent'] += 1;
    } else {
      this.report[result.status].push({ row, index, error: result.error });
    }
    callSafely(() => this.#onResult?.(result));
  }
}

async function* rowsOf<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
  from: number,
): AsyncGenerator<Row<Fields>, void, undefined> {
  let index = 0;
  for await (const row of iterable(recipients)) {
    if (index >= from) {
      yield { index, row };
    }
    index += 1;
  }
}

/** The name of a recipient: the same address is mailed once, in whatever spelling. */
function addressOf(row: unknown): string | undefined {
  const email = emailIn(documented(givenAddress(row)))
    .trim()
    .normalize('NFC')
    .toLowerCase();
  return email === '' ? undefined : withAsciiDomain(email);
}

function withAsciiDomain(email: string): string {
  const at = email.lastIndexOf('@');
  const domain = email.slice(at + 1);
  const url = `http://${domain}`;
  return at < 0 || !URL.canParse(url) ? email : email.slice(0, at + 1) + new URL(url).hostname;
}

function shownAddress(row: unknown): string {
  const email = givenAddress(row);
  return typeof email === 'string' ? email : '';
}

function givenAddress(row: unknown): unknown {
  try {
    return isRecord(row) ? fieldsOf(row)['email'] : row;
  } catch {
    return row; // its `toJSON` throws: that row is not sent
  }
}

function recipientOf<Fields extends object>(row: EachRecipient<Fields>): Recipient<Fields> {
  return typeof row === 'string'
    ? { email: row }
    : (fieldsOf(row as unknown as Record<string, unknown>) as unknown as Recipient<Fields>); // has an address
}

function noAddress<Fields extends object>({ row, index }: Row<Fields>): PostreelError {
  const message = `must be an address or { email }; got ${kindOf(givenAddress(row))}`;
  return invalidRequest([{ field: `recipients[${index}]`, message }]);
}

const ownFields = ['from', 'subject', 'body', 'template', 'reply', 'attachments', 'subscribed'];

// What a contact or a row of a database has, and asks for nothing.
const recordOnly = ['id', 'createdAt', 'updatedAt', '_meta'];
const rowFields = [...ownFields, ...recordOnly, 'email', 'name', 'data', 'headers'];

function bodyOf<Fields extends object>(
  message: EachMessage<Fields>,
  recipient: Recipient<Fields>,
): SendRequest<Fields> {
  const { email, name } = recipient;
  const to = name === undefined ? email : { email, name };
  const common = isRecord(message) ? fieldsOf(message) : {};
  const given: Readonly<Record<string, unknown>> = { ...recipient };
  refuseUnknown(given);
  const own = ownFields.filter((field) => given[field] !== undefined);
  // A template has a subject and a body of its own.
  const dropped = given['template'] === undefined ? [] : ['subject', 'body'];
  const kept = Object.entries(common).filter(([field]) => !dropped.includes(field));
  const body: unknown = {
    ...Object.fromEntries([...kept, ...own.map((field) => [field, given[field]])]),
    ...merged('data', [common, given]),
    ...merged('headers', [common, given]),
    to,
  };
  return body as SendRequest<Fields>; // of the same fields
}

/** Refuses a field that is none of an email: left out, it would be missed in what the recipient gets. */
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
  [common, own]: readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>],
): Readonly<Record<string, unknown>> {
  const [first, over] = [entriesOf(field, common[field]), entriesOf(field, own[field])];
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
