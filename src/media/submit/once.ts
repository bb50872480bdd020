import { hasIoContexts, sleep, type Clock } from '../../core/async.js';
import { inTime, type CallState } from '../../core/call/call.js';
import { isJournalGone } from '../../core/once/ledger.js';
import { waitingForClaim } from '../../core/once/once.js';
import { routes } from '../generate/routes.js';
import type { Again, Found, JobLedger, OnceJob } from '../jobs/ledger.js';
import { replayed } from './paid-call.js';
import type { Submission, Submitted } from './submission.js';
import type { Submitter } from './submitter.js';

const askAgainMs = 1_000;
const journalAgainMs = 5_000;

/** The dependencies of `OnceJobs`. */
export interface OnceParts {
  readonly submitter: Submitter;
  readonly ledger: JobLedger;
  readonly clock: Clock;
  /** Called when the journal cannot be reached and a queue waits until it can. */
  readonly onSubmitError: (failure: unknown) => void;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

type OnceParcel = Submission & { readonly once: OnceJob };

/**
 * Submits the job of each idempotency key once. When the journal already has an entry for the key, that entry
 * decides:
 *
 *     entry of the key     result
 *     none                 submit the job
 *     answered             return the job of the entry; with `retriesFailed` submit again what failed
 *     claimed, alive       wait, then look again
 *     claimed, expired     an `OUTCOME_UNKNOWN` error; with `sendsUnknown` submit the job again
 *     unknown              as for an expired claim
 */
export class OnceJobs {
  readonly #parts: OnceParts;
  /** The keys whose jobs this client is submitting now. */
  readonly #running = new Map<string, Promise<unknown>>();
  /** The paid calls of other runs that jobs of this client wait for. Each of them emits one `warning`. */
  readonly #awaited = new Set<string>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  async submit(given: OnceParcel, state: CallState, again: Again): Promise<Submitted> {
    const { clock } = this.#parts;
    const { kind, once, options } = given;
    const { signal, deadline = Number.POSITIVE_INFINITY } = options;
    const terms = { ...routes[kind], signal, clock, deadlineAt: clock.now() + deadline };
    for (;;) {
      signal?.throwIfAborted();
      given.stop?.throwIfAborted();
      // On Workers one request may not wait for another, so only the journal prevents duplicates there.
      const other = hasIoContexts() ? undefined : this.#running.get(once.place);
      if (other) {
        const over = other.catch(() => undefined); // by then the journal has its outcome
        await inTime(over, terms);
        continue;
      }
      const left = terms.deadlineAt - clock.now();
      const parcel = { ...given, options: { ...options, deadline: left } };
      const run = this.#findOrSubmit(parcel, state, again, terms);
      this.#running.set(once.place, run);
      const submitted = await run.finally(() => this.#running.delete(once.place));
      if (submitted !== 'taken') {
        return submitted;
      }
    }
  }

  async #findOrSubmit(
    parcel: OnceParcel,
    state: CallState,
    again: Again,
    terms: Parameters<typeof inTime>[1],
  ): Promise<Submitted | 'taken'> {
    const { submitter, clock } = this.#parts;
    const { once, lane } = parcel;
    const found = await inTime(this.#find(parcel, again), terms);
    switch (found.state) {
      case 'free':
        return submitter.submit({ ...parcel, once: { ...once, over: found.over } }, state);
      case 'answered': {
        const { record, isSaved, isOver } = found;
        state.outcome = undefined;
        (await submitter.open()).seen(record.fileId, isOver);
        if (lane && isSaved) {
          lane.folderId ??= record.folderId; // a saved file is not in progress
        } else {
          lane?.follow(record.folderId);
        }
        return { ...replayed, data: [record], known: { isSaved } };
      }
      case 'claimed':
        // Another run claimed the key. Either its response arrives, or its claim expires.
        this.#warnOnce(once, found, terms.deadlineAt - clock.now());
        await inTime(sleep(Math.min(askAgainMs, found.leftMs), terms.signal, clock), terms);
        return 'taken';
    }
  }

  #warnOnce(once: OnceJob, { call, leftMs }: { call: string; leftMs: number }, mostMs: number) {
    if (!this.#awaited.has(call)) {
      this.#awaited.add(call);
      this.#parts.warn(waitingForClaim(once, Math.min(leftMs, mostMs)));
    }
  }

  /** Looks up the key in the journal. A queue retries while the journal cannot be reached. */
  async #find({ once, lane, options }: OnceParcel, again: Again): Promise<Found> {
    const { ledger, clock, onSubmitError: onTrouble } = this.#parts;
    const startedAt = clock.now();
    for (;;) {
      try {
        return await ledger.find(once, again);
      } catch (failure) {
        const isPatient = lane !== undefined && clock.now() - startedAt < lane.deadlineMs;
        if (!isPatient || !isJournalGone(failure)) {
          throw failure;
        }
        onTrouble(failure);
      }
      await sleep(journalAgainMs, options.signal, clock);
    }
  }
}
