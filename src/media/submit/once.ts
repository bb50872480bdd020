import { sleep } from '../../core/async.js';
import type { CallState, Deadline } from '../../core/call/call.js';
import type { KeyedCall } from '../../core/once/claim-loop.js';
import { claimWaitWarning } from '../../core/once/key.js';
import type { KeyScope } from '../../core/once/key-scope.js';
import { isJournalUnavailable, type Answered, type StoredEntry } from '../../core/once/ledger.js';
import type { MediaConnection } from '../connection.js';
import { routes } from '../generate/routes.js';
import { callIdOf, unknownJobError, type JobLedger, type OnceJob } from '../jobs/ledger.js';
import type { MediaNotices } from '../notices.js';
import { journalRetryMs, replayed } from './paid-call.js';
import type { ClientSlots } from './slots.js';
import type { Submission, Submitted } from './submission.js';
import type { Submitter } from './submitter.js';

/** The dependencies of `OnceJobs`. */
export interface OnceParts {
  readonly connection: MediaConnection;
  readonly submitter: Submitter;
  readonly keys: KeyScope;
  readonly ledger: JobLedger;
  readonly slots: ClientSlots;
  readonly notices: MediaNotices;
}

/** Submits the job of each idempotency key once: `ClaimLoop` decides. */
export class OnceJobs {
  readonly #parts: OnceParts;
  /** The paid calls of other processes that jobs of this client wait for. Each of them emits one `warning`. */
  readonly #awaited = new Set<string>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  submit(
    submission: Submission & { readonly once: OnceJob },
    state: CallState,
  ): Promise<Submitted> {
    const { keys } = this.#parts;
    return keys.loop.run(new KeyedJob(this.#parts, this.#awaited, submission, state));
  }
}

/** One job under its idempotency key. */
class KeyedJob implements KeyedCall<Submitted> {
  readonly storeKey: string;
  readonly state: CallState;
  readonly deadline: Deadline;
  readonly sendsUnknown: boolean;
  readonly #once: OnceJob;
  readonly #parts: OnceParts;
  readonly #awaited: Set<string>;
  readonly #submission: Submission;

  constructor(
    parts: OnceParts,
    awaited: Set<string>,
    submission: Submission & { readonly once: OnceJob },
    state: CallState,
  ) {
    const { once, sendsUnknown, kind } = submission;
    const { signal, deadline = Number.POSITIVE_INFINITY } = submission.options;
    const { clock } = parts.connection.settings;
    this.storeKey = once.storeKey;
    this.state = state;
    this.deadline = { ...routes[kind], signal, clock, deadlineAt: clock.now() + deadline };
    this.sendsUnknown = sendsUnknown;
    this.#once = once;
    this.#parts = parts;
    this.#awaited = awaited;
    this.#submission = submission;
  }

  /** Reads the entry of the key. A queue retries while the journal cannot be reached. */
  async find(): Promise<StoredEntry | undefined> {
    const { ledger, notices } = this.#parts;
    const { signal, clock } = this.deadline;
    const { quota, cancelSignal } = this.#submission;
    cancelSignal?.throwIfAborted();
    const startedAt = clock.now();
    for (;;) {
      try {
        return await ledger.find(this.#once);
      } catch (failure) {
        const isPatient = quota !== undefined && clock.now() - startedAt < quota.deadlineMs;
        if (!isPatient || !isJournalUnavailable(failure)) {
          throw failure;
        }
        notices.warnOfSubmitError(failure);
      }
      await sleep(journalRetryMs, signal, clock);
    }
  }

  /** The file that was made under the key. With `retryFailed` a file that failed is made again. */
  async replay(answered: StoredEntry<Answered>): Promise<Submitted | undefined> {
    const { end } = answered.entry;
    if (this.#submission.retriesFailed && (end === 'failed' || end === 'canceled')) {
      return undefined;
    }
    const { ledger, slots } = this.#parts;
    const { quota } = this.#submission;
    const { record, isOver, isSaved } = ledger.fileOf(answered);
    (await slots.open()).noteStatus(record.fileId, isOver);
    if (quota && isSaved) {
      quota.folderId ??= record.folderId; // a saved file is not in progress
    } else {
      quota?.countEarlier(record.folderId);
    }
    return { ...replayed, data: [record], earlier: { isSaved } };
  }

  send(replaced: StoredEntry | undefined): Promise<Submitted | undefined> {
    const deadline = this.deadline.deadlineAt - this.deadline.clock.now();
    const submission = {
      ...this.#submission,
      once: { ...this.#once, replaced },
      options: { ...this.#submission.options, deadline },
    };
    return this.#parts.submitter.submit(submission, this.state);
  }

  unknownError(found: StoredEntry): Error {
    return unknownJobError(this.#once, found);
  }

  onWait(claimed: StoredEntry, maxWaitMs: number): void {
    const id = callIdOf(claimed);
    if (!this.#awaited.has(id)) {
      this.#awaited.add(id);
      this.#parts.keys.warn(claimWaitWarning(this.#once, maxWaitMs));
    }
  }
}
