import { ofType, route, type NamesOf } from '../core/call/route.js';
import { type OpenInput, isRecord } from '../core/values.js';
import type { Call, RequestOptions, DataOptions } from '../core/types.js';
import type { OnceKey } from '../core/once/key.js';
import type { Transport } from '../core/call/send.js';
import { limits } from './limits.js';
import type { MessageData } from './shared/data.js';
import { withEmptyDeleted, fieldsOf } from './shared/request-body.js';
import { hasFiles, encodeAttachments } from './emails/attachments.js';
import type { TextCheck } from './shared/template-text.js';
import {
  emailOf,
  emailKey,
  mapFields,
  normalizeAddress,
  normalizeEmail,
  normalizeEmailsIn,
} from './shared/values.js';

export const routes = {
  send: route('POST /v1/send', {
    body: ofType<SendRequest>(),
    returns: ofType<SendResult>('emails'),
    normalize: normalizeMail,
    maxBodyBytes: limits.messageBytes,
    // The service handles several recipients one after another: before a 429, it may have mailed some of them.
    partial: (body: { to?: unknown } | undefined, status) =>
      Array.isArray(body?.to) && body.to.length > 1 && (status === 429 || status === undefined),
  }),
  verify: route('POST /v1/verify', {
    body: ofType<VerifyRequest>(),
    returns: ofType<AddressVerification>('reasons'),
    normalize: normalizeEmailsIn('email'),
    repeatable: true, // a pure check
    changes: false,
  }),
};

/** An email address with a display name. */
export interface NamedAddress {
  email: string;
  name?: string | undefined;
}

/** An email address, with or without a display name: `'ann@example.com'`, `'Ann <ann@example.com>'`, or an object. */
export type Address = string | NamedAddress;

/** One recipient or several; each gets a separate email, one after another. */
export type Recipients = Address | readonly Address[];

/** An email to send: a template, or a sender, a subject and a body. */
export type SendRequest<Fields extends object = object> =
  TemplateSend<Fields> | ContentSend<Fields>;

/** An email made from a template. The other fields of this object override those of the template. */
export interface TemplateSend<Fields extends object = object> extends SendFields<Fields> {
  /** The id of a template; its variables come from `data`. */
  template: string;
  /** Its domain must be verified. Required if the template has no sender. */
  from?: Address | undefined;
  /** 1 to 998 characters, no line breaks. */
  subject?: string | undefined;
  /** HTML. */
  body?: string | undefined;
}

/** An email with a subject and a body. */
export interface ContentSend<Fields extends object = object> extends SendFields<Fields> {
  template?: undefined;
  /** Its domain must be verified. */
  from: Address;
  /** 1 to 998 characters, no line breaks. */
  subject: string;
  /** HTML. */
  body: string;
}

/** Fields of every email, with the custom fields that the client was given. */
interface SendFields<Fields extends object = object> {
  /** Each recipient is created as a contact, or the contact with that email is updated. */
  to: Recipients;
  /**
   * The sender's name, if `from` is a string.
   * @deprecated Use `from: { name, email }`.
   */
  name?: string | undefined;
  /**
   * Subscribes or unsubscribes the recipients. If left out, contacts keep their state and new ones
   * are not subscribed. A change fires `contact.subscribed` or `contact.unsubscribed`.
   */
  subscribed?: boolean | undefined;
  /** Extra email headers: values of at most 998 characters, no line breaks. */
  headers?: { readonly [name: string]: string } | undefined;
  /** The reply-to address. */
  reply?: string | undefined;
  /** At most 10; by default the service accepts 10 MB in total. */
  attachments?: readonly Attachment[] | undefined;
  /**
   * Template variables, also stored on the contacts. `null` deletes a field; an empty string is
   * ignored; `transient(value)` is used for this email only.
   */
  data?: MessageData<Fields> | undefined;
}

/**
 * A file that is attached to an email. The service does not document its fields: these are the usual names, and other
 * fields are sent with a `warning`. `attachment(path)` of `postreel/node` reads a file.
 */
export interface Attachment extends OpenInput {
  /** The service does not document this name. */
  filename?: string | undefined;
  /**
   * Bytes, a blob, base64, or a data URL (`data:…;base64,…`). The content is sent as base64. Any other text, such
   * as a path, is rejected, and so are a stream and a missing content. The service does not document this name:
   * if your service uses another field for the content, such as a link, set `content: undefined`.
   */
  content: string | Uint8Array | ArrayBuffer | Blob | undefined;
  /** E.g. `application/pdf`. The service does not document this name. */
  contentType?: string | undefined;
}

/** The emails that were sent. */
export interface SendResult {
  /** One entry per recipient. */
  emails: SentEmail[];
  /** ISO 8601. */
  timestamp: string;
}

/** One email that was sent. */
export interface SentEmail {
  contact: { id: string; email: string };
  /** The id of the email. */
  email: string;
}

/** An address to check. */
export interface VerifyRequest {
  email: string;
}

/** The result of checking an email address. */
export interface AddressVerification {
  email: string;
  valid: boolean;
  /** Whether the address belongs to a disposable email provider. */
  isDisposable: boolean;
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  /** Whether the address belongs to a personal email provider. */
  isPersonalEmail: boolean;
  domainExists: boolean;
  hasWebsite: boolean;
  hasMxRecords: boolean;
  reasons: string[];
}

/** One result of `verifyAll()`: either `verification` or `error`. */
export interface VerifiedAddress {
  readonly email: string;
  readonly verification: AddressVerification | undefined;
  readonly error: unknown;
}

/** The parts of the client that `Emails` uses, next to the transport. */
interface EmailsParts {
  readonly rules: DataOptions;
  readonly warn: (message: string) => void;
  readonly checkTexts: TextCheck;
}

/**
 * Transactional email and address verification.
 * @example
 * await messaging.send({ to: 'ann@example.com', template: 'tpl_welcome', data: { plan: 'pro' } });
 * const { valid, reasons } = await messaging.verify({ email: 'ann@exmaple.com' });
 */
export class Emails<Fields extends object = object> implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #rules: DataOptions;
  readonly #warn: (message: string) => void;
  readonly #checkTexts: TextCheck;

  constructor(transport: Transport, { rules, warn, checkTexts }: EmailsParts) {
    this.#transport = transport;
    this.#rules = rules;
    this.#warn = warn;
    this.#checkTexts = checkTexts;
  }

  /**
   * Sends an email immediately; the whole message may be at most 40 MB. Each recipient is created
   * or updated as a contact. The service handles several recipients one after another: after an
   * error with the outcome `'unknown'`, some of them may have received it.
   */
  send(body: SendRequest<Fields>, options?: RequestOptions): Call<SendResult> {
    return this.sendWithKey(undefined, body, options);
  }

  /** Sends an email as `send()` does, with the key that `sendEach()` makes for the journal. @internal */
  sendWithKey(
    once: OnceKey | undefined,
    body: SendRequest<Fields>,
    options?: RequestOptions,
  ): Call<SendResult> {
    const sent = this.toRequest(body);
    this.#checkTexts(sent);
    const before = hasFiles(sent) ? { run: () => encodeAttachments(sent) } : undefined;
    const call = this.#transport.send(routes.send, { body: sent, before, once }, options);
    const to: unknown = isRecord(sent) ? sent['to'] : undefined;
    return Array.isArray(to) && to.length > 1
      ? call.map((data) => this.#warnAboutMissing(to, data))
      : call;
  }

  /** Returns the email in the form in which it is sent, except for its files. @internal */
  toRequest<Body>(body: Body): Body {
    const own = resolveToJson(body);
    const normalized = isRecord(own) ? (normalizeMail(own) as Body) : own; // normalizing keeps the fields
    return withEmptyDeleted(normalized, this.#rules);
  }

  /** Emits a `warning`. @internal */
  warn(message: string): void {
    this.#warn(message);
  }

  /** Emits a `warning` that names the recipients for whom the response has no email. */
  #warnAboutMissing(to: readonly unknown[], data: SendResult): SendResult {
    const missing = findWithoutEmail(to, data);
    if (missing.length > 0) {
      this.#warn(
        `The response contains no email to ${missing.join(', ')}: they may not have been mailed.`,
      );
    }
    return data;
  }

  /** Checks an email address: format, domain, typos, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#transport.send(routes.verify, { body }, options);
  }
}

/** Converts the addresses of an email to the form in which they are sent. */
function normalizeMail(body: Record<string, unknown>): Record<string, unknown> {
  return mapFields(mapFields(body, ['to', 'from'], normalizeAddress), ['reply'], normalizeEmail);
}

/** Returns the email in the form in which it is sent: if it has `toJSON()`, the result of that. */
function resolveToJson<Body>(body: Body): Body {
  return isRecord(body) ? (fieldsOf(body) as Body) : body; // `toJSON()` returns the same email
}

/** Returns the recipients without an email in the response; an empty list if the response does not show them. */
function findWithoutEmail(to: readonly unknown[], answer: unknown): readonly string[] {
  const emails: unknown = isRecord(answer) ? answer['emails'] : undefined;
  if (!Array.isArray(emails) || emails.length >= to.length) {
    return [];
  }
  const mailed = new Set(
    emails.map((email) => emailKey(emailOf(isRecord(email) ? email['contact'] : ''))),
  );
  return to
    .map((one) => emailOf(normalizeAddress(one)))
    .filter((email) => !mailed.has(emailKey(email)));
}

/** Returns the indexes of recipients who are in the list a second time. */
export function findRepeated(to: unknown): readonly number[] {
  const seen = new Set<string>();
  const list: readonly unknown[] = Array.isArray(to) ? to : [];
  return list.flatMap((one, at) => {
    const key = emailKey(emailOf(one));
    const isAgain = seen.has(key);
    seen.add(key);
    return isAgain ? [at] : [];
  });
}
