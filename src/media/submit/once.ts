import { sleep, type Clock } from '../../core/async.js';
import type { CallState } from '../../core/call.js';
import { isJournalGone } from '../../core/ledger.js';
import type { Again, JobLedger, OnceJob } from '../jobs/ledger.js';
import { replayed } from './paid-call.js';
import type { Parcel, Submitted } from './parcel.js';
import type { Submitter } from './submitter.js';

const askAgainMs = 1_000;
const journalAgainMs = 5_000;

/** What it takes to submit jobs once. */
export interface OnceParts {
  readonly submitter: Submitter;
  readonly ledger: JobLedger;
  readonly clock: Clock;
  /** The journal does not answer, and a queue waits for it. */
  readonly onTrouble: (failure: unknown) => void;
}

type OnceParcel = Parcel & { readonly once: OnceJob };

/** Submits each key once: what the journal knows under a key is not submitted again. */
export class OnceJobs {
  readonly #parts: OnceParts;
  /** Keys that are being submitted in this process. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  async submit(parcel: OnceParcel, state: CallState, again: Again): Promise<Submitted> {
    const { place } = parcel.once;
    for (;;) {
      parcel.options.signal?.throwIfAborted();
      const other = this.#running.get(place);
      if (other) {
        await other.catch(() => undefined); // then the journal knows
        continue;
      }
      const run = this.#findOrSubmit(parcel, state, again);
      this.#running.set(place, run);
      const submitted = await run.finally(() => this.#running.delete(place));
      if (submitted !== 'taken') {
        return submitted;
      }
    }
  }

  async #findOrSubmit(
    parcel: OnceParcel,
    state: CallState,
    again: Again,
  ): Promise<Submitted | 'taken'> {
    const { submitter, clock } = this.#parts;
    const { once, lane } = parcel;
    const { signal } = parcel.options;
    const found = await this.#find(parcel, again);
    signal?.throwIfAborted();
    switch (found?.state) {
      case 'free':
        return submitter.submit({ ...parcel, once: { ...once, over: found.over } }, state);
      case 'answered': {
        const { record, isSaved, isOver } = found;
        state.outcome = undefined;
        (await submitter.open()).seen(record.fileId, isOver);
        lane?.follow(record.folderId);
        return { ...replayed, data: [record], known: { isSaved } };
      }
      case 'claimed':
        // Another run is about to submit it, or has ended: its answer decides, or its age.
        await sleep(Math.min(askAgainMs, found.leftMs), signal, clock);
        return 'taken';
      case undefined:
        await sleep(journalAgainMs, signal, clock);
        return 'taken';
    }
  }

  /** `undefined` while a queue waits for the journal. */
  async #find({ once, lane }: OnceParcel, again: Again) {
    const { ledger, onTrouble } = this.#parts;
    return ledger.find(once, again).catch((failure: unknown) => {
      if (!lane || !isJournalGone(failure)) {
        throw failure;
      }
      onTrouble(failure);
      return undefined;
    });
  }
}
