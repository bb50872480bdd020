import type { OpenInput } from '../../core/values.js';
import type { MessageData } from '../shared/data.js';

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

/** An email made from a template. Fields beside `template` override the template's own. */
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

/** An email with its own content. */
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
   * The sender's name where `from` is a string.
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
 * A file that goes with an email. The service does not document its fields: these are the usual names,
 * and others are sent as they are. `attachment(path)` of `postreel/node` reads one.
 */
export interface Attachment extends OpenInput {
  /** The service does not document this name. */
  filename?: string | undefined;
  /**
   * Bytes, a blob, base64, or a data address (`data:…;base64,…`); any other text, such as a path, is
   * refused. It is sent as base64. The service does not document this name.
   */
  content?: string | Uint8Array | ArrayBuffer | Blob | undefined;
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
  /** Whether it belongs to a disposable email provider. */
  isDisposable: boolean;
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  /** Whether it belongs to a personal email provider. */
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
