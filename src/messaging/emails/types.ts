import type { OpenRecord } from '../../contract/records.js';
import type { ContactData } from '../shared/data.js';

/** An email address with the name to show beside it. */
export interface NamedAddress {
  email: string;
  name?: string | undefined;
}

/** An email address, alone or with a name. */
export type Address = string | NamedAddress;

/** One recipient or several, at least one; each gets an email of its own, one after another. */
export type Recipients = Address | readonly Address[];

/** An email to send at once: a template, or a sender, a subject and a body. */
export type SendRequest = TemplateSend | ContentSend;

/** An email made from a template. What stands beside `template` overrides what it says. */
export interface TemplateSend extends SendFields {
  /** The id of a template; its variables come from `data`. */
  template: string;
  /** Its domain must be verified. Needed when the template has no sender. */
  from?: Address | undefined;
  /** 1 to 998 characters, without line breaks. */
  subject?: string | undefined;
  /** HTML. */
  body?: string | undefined;
}

/** An email with a content of its own. */
export interface ContentSend extends SendFields {
  template?: undefined;
  /** Its domain must be verified. */
  from: Address;
  /** 1 to 998 characters, without line breaks. */
  subject: string;
  /** HTML. */
  body: string;
}

/** What every email can have. */
export interface SendFields {
  /** Each recipient becomes a contact, or the contact with that email is updated. */
  to: Recipients;
  /**
   * The sender's name where `from` is a string.
   * @deprecated Use `from: { name, email }`.
   */
  name?: string | undefined;
  /**
   * The subscription of the recipients. Left out, contacts keep theirs and new ones have none.
   * A change fires `contact.subscribed` or `contact.unsubscribed`.
   */
  subscribed?: boolean | undefined;
  /**
   * Template variables, which are stored on the contacts too. `null` deletes a field; an empty
   * string is ignored; `transient(value)` is used for this email only.
   */
  data?: ContactData | undefined;
  /** More headers of the email: values of at most 998 characters, without line breaks. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Where answers go. */
  reply?: string | undefined;
  /** At most 10; by default the service takes 10 MB in all. */
  attachments?: readonly Attachment[] | undefined;
}

/** A file that goes with an email. The service's document does not show its fields. */
export interface Attachment extends OpenRecord {}

/** What was sent. */
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

/** What is known about an address. */
export interface AddressVerification {
  email: string;
  valid: boolean;
  /** Does it belong to a provider of throw-away addresses? */
  isDisposable: boolean;
  isAlias: boolean;
  isTypo: boolean;
  isPlusAddressed: boolean;
  /** Does it belong to a provider of personal addresses? */
  isPersonalEmail: boolean;
  domainExists: boolean;
  hasWebsite: boolean;
  hasMxRecords: boolean;
  reasons: string[];
}
