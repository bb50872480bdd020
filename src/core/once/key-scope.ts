import type { ClaimLoop } from './claim-loop.js';
import type { Ledger } from './ledger.js';

/** The keys of one client. */
export interface KeyScope {
  readonly ledger: Ledger;
  /** All clients with this journal share the loop, so that two calls with the same key wait for each other. */
  readonly loop: ClaimLoop;
  /** The prefix that separates this project's keys from those of other projects in the same store. */
  readonly scope: string;
  /** The prefix of named queues, which several projects may share. */
  readonly queueScope: string;
  /** The group that owns these entries among those of a shared queue. */
  readonly owner: string | undefined;
  /** Does a call belong to this client's service? The other service may have its keys in the same scopes. */
  readonly hasCall: (call: string) => boolean;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}
