import { callSafely } from '../../core/async.js';
import type { Call, RequestOptions } from '../../core/types.js';
import { isIdNumber, isRecord } from '../../core/values.js';
import {
  invalidRequest,
  isPostreelError,
  PartialError,
  UnexpectedResponseError,
  PostreelError,
  type Outcome,
} from '../../core/errors.js';
import { wireValue } from '../../core/body.js';
import { kindOf } from '../../core/request.js';
import { fieldsOf } from '../shared/request-body.js';
import { checkRows, iterable, untilAborted, type RowSource } from '../shared/row-source.js';
import type {
  EachMessage,
  EachRecipient,
  EachResult,
  SendEachOptions,
  SendEachReport,
} from './each-types.js';
import { SendJournal, type KnownSend, type SendProject } from './send-journal.js';
import type { NamedAddress, SendRequest, SendResult } from './types.js';

/** What a run asks of its client. */
export interface EachHost<Fields extends object> {
  /** Whose emails these are. */
  readonly project: SendProject;
  /** Sends one email; `beforeSending` runs right before its request leaves. */
  send(
    body: SendRequest<Fields>,
    options: RequestOptions,
    beforeSending: (() => Promise<void>) | undefined,
  ): Call<SendResult | undefined>;
  warn(text: string): void;
}

/** Sends an email to each recipient once, a few at a time, and reports what became of each. */
export async function sendEach<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
  message: EachMessage<Fields>,
  options: SendEachOptions,
  host: EachHost<Fields>,
): Promise<SendEachReport<EachRecipient<Fields>>> {
  checkRows(recipients, 'sendEach()');
  const run = new EachRun(message, options, host);
  const total = Array.isArray(recipients) ? recipients.length : undefined;
  try {
    for await (const rows of untilAborted(inWindows(recipients, run.from), options.signal)) {
      await run.send(rows);
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

type Recipient<Fields extends object> = Exclude<EachRecipient<Fields>, string>;

/** A recipient with its place in the input. */
interface Row<Fields extends object> {
  readonly index: number;
  readonly row: EachRecipient<Fields>;
}

// So many are looked up in the journal at once.
const windowSize = 500;

/** What went wrong with one recipient. */
interface Failure {
  readonly error: unknown;
  /** Was the recipient claimed in the journal? */
  readonly isClaimed: boolean;
  /** Of the call: an abort has the caller's own reason, which does not give the outcome. */
  readonly outcome: Outcome | undefined;
}

/** The run of another process was faster with this recipient. Nothing was sent. */
class Taken extends Error {}

class EachRun<Fields extends object> {
  readonly from: number;
  readonly report: SendEachReport<EachRecipient<Fields>>;
  /** The first row that was not begun. */
  next: number;
  readonly #message: EachMessage<Fields>;
  readonly #host: EachHost<Fields>;
  readonly #rest: RequestOptions;
  readonly #journal: SendJournal | undefined;
  readonly #onResult: SendEachOptions['onResult'];
  readonly #maxAtOnce: number;
  /** What is recorded of the recipients: all of them without a journal, else those of one window. */
  readonly #known = new Map<string, KnownSend>();
  readonly #underWay = new Map<string, Promise<void>>();
  #fatal: { readonly reason: unknown } | undefined;

  constructor(message: EachMessage<Fields>, options: SendEachOptions, host: EachHost<Fields>) {
    const { journal, key = '', unknown, concurrency = 10, from = 0, onResult, ...rest } = options;
    if (journal && key === '') {
      throw invalidRequest([
        { field: 'key', message: 'is needed with a journal: it names the email' },
      ]);
    }
    const sendsUnknown = unknown === 'send';
    this.#journal =
      journal &&
      new SendJournal(journal, host.project, {
        key,
        sendsUnknown,
        warn: (text) => host.warn(text),
      });
    this.from = from;
    this.next = from;
    this.report = { done: 0, sent: 0, earlier: 0, failed: [], unknown: [] };
    this.#message = message;
    this.#host = host;
    this.#rest = { ...rest, priority: rest.priority ?? 'bulk' };
    this.#maxAtOnce = concurrency;
    this.#onResult = onResult;
  }

  /** Sends to one window of recipients, in their order. */
  async send(rows: readonly Row<Fields>[]): Promise<void> {
    if (this.#journal) {
      await this.#finishUnderWay();
      const emails = rows.flatMap(({ row }) => addressOf(row) ?? []);
      this.#known.clear();
      for (const [email, known] of await this.#journal.find([...new Set(emails)])) {
        this.#known.set(email, known);
      }
    }
    for (const row of rows) {
      await this.#begin(row);
    }
  }

  /** Resolves when all that was begun is over and written down. */
  async end(): Promise<void> {
    await this.#finishUnderWay();
    await this.#journal?.flush();
    this.#throwIfOver();
  }

  async #begin(row: Row<Fields>): Promise<void> {
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
      this.#reportKnown(row, known);
      return;
    }
    const sending = this.#sendTo(row, email).finally(() => this.#underWay.delete(email));
    this.#underWay.set(email, sending);
  }

  async #finishUnderWay(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  #throwIfOver(): void {
    if (this.#fatal) {
      throw this.#fatal.reason;
    }
  }

  async #sendTo(row: Row<Fields>, email: string): Promise<void> {
    let isClaimed = false;
    const claim = async () => {
      if (!isClaimed && this.#journal && !(await this.#journal.claim(email))) {
        throw new Taken();
      }
      isClaimed = true;
    };
    let call: Call<SendResult | undefined> | undefined;
    try {
      const recipient = recipientOf(row.row);
      const body = bodyOf(this.#message, recipient);
      call = this.#host.send(body, this.#rest, this.#journal && claim);
      const id = sentId(await call, email);
      await this.#journal?.accept(email, id);
      this.#known.set(email, { state: 'sent', id });
      this.#report(row, { email: recipient.email, status: 'sent', id, isEarlier: false });
    } catch (error) {
      await this.#resolveFailure(row, email, {
        error,
        isClaimed,
        outcome: call ? call.outcome : 'not-sent',
      });
    }
  }

  async #resolveFailure(
    row: Row<Fields>,
    email: string,
    { error, isClaimed, outcome }: Failure,
  ): Promise<void> {
    if (error instanceof Taken) {
      const found = await this.#journal?.find([email]).catch(() => undefined);
      this.#reportKnown(row, found?.get(email) ?? { state: 'claimed' });
      return;
    }
    const known = isPostreelError(error) ? error.outcome : outcome;
    if (known !== 'not-sent' && known !== 'rejected') {
      this.#known.set(email, { state: 'claimed' });
      this.#report(row, { email: shownAddress(row.row), status: 'unknown', error });
      return;
    }
    if (isClaimed) {
      await this.#journal?.refuse(email);
    }
    this.#report(row, { email: shownAddress(row.row), status: 'failed', error });
    if (isPostreelError(error) && isHopeless(error)) {
      this.#fatal ??= { reason: error };
    }
  }

  #reportKnown(row: Row<Fields>, known: KnownSend): void {
    const email = shownAddress(row.row);
    if (known.state === 'sent') {
      this.#report(row, { email, status: 'sent', id: known.id, isEarlier: true });
    } else {
      this.#report(row, { email, status: 'unknown', error: mayHaveBeenMailed() });
    }
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

async function* inWindows<Fields extends object>(
  recipients: RowSource<EachRecipient<Fields>>,
  from: number,
): AsyncGenerator<Row<Fields>[], void, undefined> {
  let rows: Row<Fields>[] = [];
  let index = 0;
  try {
    for await (const row of iterable(recipients)) {
      if (index >= from) {
        rows.push({ index, row });
      }
      index += 1;
      if (rows.length === windowSize) {
        yield rows.splice(0);
      }
    }
  } catch (failure) {
    // What was read before the input failed is sent all the same.
    yield rows.splice(0);
    throw failure;
  }
  rows = rows.splice(0);
  yield rows;
}

/** The name of a recipient: the same address in upper and lower case is mailed once. */
function addressOf(row: unknown): string | undefined {
  const email = shownAddress(row).trim().toLowerCase();
  return email === '' ? undefined : email;
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

function bodyOf<Fields extends object>(
  message: EachMessage<Fields>,
  { email, name, data }: NamedAddress & { data?: unknown },
): SendRequest<Fields> {
  const to = name === undefined ? email : { email, name };
  const given = isRecord(message) ? fieldsOf(message) : {};
  const entries = [given['data'], data].flatMap(dataEntries);
  const own = entries.length > 0 && { data: Object.fromEntries(entries) as unknown };
  const body: unknown = { ...given, ...own, to };
  return body as SendRequest<Fields>; // of the same fields
}

/** Data as it is sent: an entity may have a form of its own. A contact without fields has `null`. */
function dataEntries(given: unknown): [string, unknown][] {
  const sent = wireValue({ data: given ?? {} });
  const data: unknown = isRecord(sent) ? sent['data'] : undefined;
  if (!isRecord(data)) {
    throw invalidRequest([
      { field: 'data', message: `must be an object of fields; got ${kindOf(given)}` },
    ]);
  }
  return Object.entries(data);
}

function mayHaveBeenMailed(): PostreelError {
  return new PostreelError(
    "This recipient may have been mailed when an earlier run ended. `unknown: 'send'` mails them again.",
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

// A bare yes is a success, though its list is empty; in an answer that says more it means that the recipient was skipped.
function sentId(answer: unknown, email: string): string {
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
  const id: unknown = isRecord(first) ? (first['email'] ?? first['id']) : first;
  // Some services have numbers.
  return (typeof id === 'string' && id !== email) || isIdNumber(id) ? String(id) : '';
}

// A key that is wrong for one recipient is wrong for all, and so is a journal that cannot be written.
function isHopeless({ status, code }: PostreelError): boolean {
  return status === 401 || status === 403 || code === 'JOURNAL_UNAVAILABLE';
}
