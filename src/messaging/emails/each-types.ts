import type { RequestOptions } from '../../core/types.js';
import type { Report } from '../../core/errors.js';
import type { ContentSend, NamedAddress, TemplateSend } from './types.js';

/**
 * Whom to mail: an address, with fields of the email of its own if you like. `data` and `headers` go over
 * those of the common email, field by field; the others replace it, and with a `template` of its own a
 * recipient gets no common `subject` and `body`.
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
