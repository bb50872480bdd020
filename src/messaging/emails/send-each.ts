import { callSafely } from '../../async/notifier.js';
import type { RequestOptions } from '../../contract/call.js';
import { isPostreelError, type PostreelError } from '../../errors/index.js';
import { refuse } from '../../errors/client-errors.js';
import type {
  EachMessage,
  EachRecipient,
  EachResult,
  SendEachOptions,
  SendEachResult,
} from './each-types.js';
import { SendClaim } from './send-claim.js';
import type { KnownSend } from './send-journal.js';
import type { NamedAddress, SendRequest, SendResult } from './types.js';

/** Sends one email. */
export type SendOne<Fields extends object> = (
  body: SendRequest<Fields>,
  options: RequestOptions,
) => PromiseLike<SendResult>;

/** Sends an email to each recipient once, a few at a time, and says what became of each. */
export async function sendEach<Fields extends object>(
  recipients: Iterable<EachRecipient<Fields>> | AsyncIterable<EachRecipient<Fields>>,
  message: EachMessage<Fields>,
  send: SendOne<Fields>,
  options: SendEachOptions,
): Promise<SendEachResult> {
  const run = new EachRun(message, send, options);
  for await (const recipient of recipients) {
    await run.add(typeof recipient === 'string' ? { email: recipient } : recipient);
  }
  await run.flush();
  return run.result;
}

type Recipient<Fields extends object> = Exclude<EachRecipient<Fields>, string>;
type Entry<Fields extends object> = readonly [name: string, recipient: Recipient<Fields>];

// So many are looked up in the journal at once.
const windowSize = 500;

class EachRun<Fields extends object> {
  readonly result: SendEachResult = { sent: 0, earlier: 0, failed: [], unknown: [] };
  readonly #message: EachMessage<Fields>;
  readonly #send: SendOne<Fields>;
  readonly #options: SendEachOptions;
  readonly #rest: RequestOptions;
  readonly #atOnce: number;
  /** Who has the email when there is no journal. */
  readonly #seen = new Map<string, KnownSend>();
  /** By name: nobody is in it twice. */
  #window = new Map<string, Recipient<Fields>>();

  constructor(message: EachMessage<Fields>, send: SendOne<Fields>, options: SendEachOptions) {
    const { journal, key = '', unknown, concurrency = 10, onResult, ...rest } = options;
    if (journal && key === '') {
      throw refuse([{ field: 'key', message: 'is needed with a journal: it names the email' }]);
    }
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw refuse([{ field: 'concurrency', message: 'must be a whole number above 0' }]);
    }
    this.#message = message;
    this.#send = send;
    this.#options = { journal, key, unknown, onResult };
    this.#rest = { ...rest, priority: rest.priority ?? 'bulk' };
    this.#atOnce = concurrency;
  }

  async add(recipient: Recipient<Fields>): Promise<void> {
    const name = `email ${this.#options.key ?? ''} ${recipient.email.trim().toLowerCase()}`;
    // Somebody who is listed twice is known by the time of the second window.
    if (this.#window.size >= windowSize || this.#window.has(name)) {
      await this.flush();
    }
    this.#window.set(name, recipient);
  }

  /** Sends to those who wait, and comes back when all of them are written down. */
  async flush(): Promise<void> {
    const window = this.#window;
    this.#window = new Map();
    const known = await this.#known([...window.keys()]);
    const open = [...window].filter(([name, who]) => !this.#isKnown(known.get(name), who));
    for (let start = 0; start < open.length; start += this.#atOnce) {
      this.#rest.signal?.throwIfAborted();
      await this.#sendBatch(open.slice(start, start + this.#atOnce));
    }
  }

  async #sendBatch(batch: readonly Entry<Fields>[]): Promise<void> {
    const names = batch.map(([name]) => name);
    const claim = new SendClaim(this.#options.journal, names);
    const taken = await claim.open();
    if (taken.size > 0) {
      // A claim is whole or nothing: another run has some of these.
      const rest = batch.filter(([name, who]) => !this.#isKnown(taken.get(name), who));
      return rest.length > 0 ? this.#sendBatch(rest) : undefined;
    }
    const refusals = await Promise.all(batch.map((entry) => this.#sendTo(entry, claim)));
    await claim.close();
    const hopeless = refusals.find((error) => error && isHopeless(error));
    if (hopeless !== undefined) {
      throw hopeless;
    }
  }

  async #known(names: readonly string[]): Promise<ReadonlyMap<string, KnownSend>> {
    const { journal, unknown } = this.#options;
    if (!journal) {
      return this.#seen;
    }
    const known = new Map(await journal.find(names));
    for (const [name, what] of known) {
      if (what.state === 'claimed' && unknown === 'send') {
        await journal.append({ type: 'refused', id: what.id });
        known.delete(name);
      }
    }
    return known;
  }

  /** Reports somebody of whom something is known already. */
  #isKnown(known: KnownSend | undefined, { email }: NamedAddress): boolean {
    if (known?.state === 'accepted') {
      this.#report({ email, status: 'sent', id: known.job.fileId, isEarlier: true });
    } else if (known) {
      this.#report({ email, status: 'unknown', error: undefined });
    }
    return known !== undefined;
  }

  /** Resolves to the error of an email that was certainly not sent. */
  async #sendTo([name, recipient]: Entry<Fields>, claim: SendClaim) {
    const { email } = recipient;
    try {
      const { emails } = await this.#send(bodyOf(this.#message, recipient), this.#rest);
      const id = idOf(emails[0]?.email);
      await claim.accept(name, id);
      this.#remember(name, { state: 'accepted', job: { fileId: id } });
      this.#report({ email, status: 'sent', id, isEarlier: false });
      return undefined;
    } catch (error) {
      if (isUnsent(error)) {
        claim.release(name);
        this.#report({ email, status: 'failed', error });
        return error;
      }
      this.#remember(name, { state: 'claimed', id: '' });
      this.#report({ email, status: 'unknown', error });
      return undefined;
    }
  }

  // With a journal memory stays flat.
  #remember(name: string, known: KnownSend): void {
    if (!this.#options.journal) {
      this.#seen.set(name, known);
    }
  }

  #report(result: EachResult): void {
    const { email } = result;
    switch (result.status) {
      case 'sent':
        this.result[result.isEarlier ? 'earlier' : 'sent'] += 1;
        break;
      case 'failed':
        this.result.failed.push({ email, error: result.error });
        break;
      case 'unknown':
        this.result.unknown.push(email);
        break;
    }
    callSafely(() => this.#options.onResult?.(result));
  }
}

function bodyOf<Fields extends object>(
  message: EachMessage<Fields>,
  { email, name, data }: Recipient<Fields>,
): SendRequest<Fields> {
  const to = name === undefined ? email : { email, name };
  const entries = [message.data ?? {}, data ?? {}].flatMap((part) => Object.entries(part));
  const body: unknown =
    entries.length > 0 ? { ...message, data: Object.fromEntries(entries), to } : { ...message, to };
  return body as SendRequest<Fields>; // of the same fields
}

// Some services have numbers.
function idOf(id: unknown): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

function isUnsent(error: unknown): error is PostreelError {
  return isPostreelError(error) && (error.outcome === 'not-sent' || error.outcome === 'rejected');
}

// A key that is wrong for one recipient is wrong for all.
function isHopeless(error: PostreelError): boolean {
  return error.status === 401 || error.status === 403;
}
