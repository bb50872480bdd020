import { withMethods } from '../../contract/options.js';

/**
 * Where a messaging client writes down whom it mails: the same journal that a media client takes, such
 * as `fileJournal()` of `postreel/node`. Each method is one atomic step.
 */
export interface SendJournal {
  /** Writes an intent, unless one of its names is taken; resolves to what is known of those that are. */
  claim(intent: SendIntent): Promise<ReadonlyMap<string, KnownSend>>;
  /** Resolves when the entry is safe. */
  append(entry: SendEntry): Promise<void>;
  /** What is known of names; unknown names are left out. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, KnownSend>>;
}

/** Emails that are about to be sent. */
export interface SendIntent {
  readonly type: 'intent';
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly jobs: readonly never[];
  /** One for each recipient. */
  readonly names: readonly string[];
}

/** What is written down, in the form of a journal's jobs: an email is one of the kind `email`. */
export type SendEntry =
  | {
      readonly type: 'intent';
      readonly id: string;
      readonly at: string;
      readonly jobs: readonly object[];
      readonly names?: readonly string[];
    }
  | {
      readonly type: 'accepted';
      readonly id: string;
      readonly jobs: readonly ({ readonly fileId: string; readonly kind: string } | null)[];
    }
  | { readonly type: 'refused'; readonly id: string }
  | { readonly type: 'finished' | 'settled'; readonly fileId: string; readonly status: string };

/** What a journal knows of one recipient. */
export type KnownSend =
  /** An email is on its way, or nobody knows whether it was sent. */
  | { readonly state: 'claimed'; readonly id: string }
  | { readonly state: 'accepted'; readonly job: { readonly fileId: string } };

/** Known by its methods. */
export const journalKind = withMethods<SendJournal>(
  'a journal, such as `fileJournal(path)` of postreel/node',
  ...(['claim', 'append', 'find'] as const),
);
