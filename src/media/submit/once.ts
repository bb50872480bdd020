import { sleep } from '../../core/async.js';
import type { CallState } from '../../core/call.js';
import {
  isJournalGone,
  mayHaveBeenSubmitted,
  type JobLedger,
  type OnceJob,
} from '../jobs/ledger.js';
import { knownAnswer, type Parcel, type Submitted, type Submitter } from './submitter.js';

// The answer to a call of another run comes within so many of its time-outs, or never.
const claimTimeouts = 2.5;
const askAgainMs = 5_000;

/** What it takes to submit jobs once. */
export interface OnceParts {
  readonly submitter: Submitter;
  readonly ledger: JobLedger;
  /** How long an attempt of a paid call may take. */
  readonly timeoutMs: number;
}

/** Submits each key once: what the journal knows under a key is not submitted again. */
export class Once {
  readonly #parts: OnceParts;
  /** Keys that are being submitted in this process. */
  readonly #running = new Map<string, Promise<unknown>>();

  constructor(parts: OnceParts) {
    this.#parts = parts;
  }

  async submit(
    parcel: Parcel & { readonly once: OnceJob },
    state: CallState,
    retriesFailed: boolean,
  ): Promise<Submitted> {
    const { key } = parcel.once;
    for (;;) {
      parcel.options.signal?.throwIfAborted();
      const other = this.#running.get(key);
      if (other) {
        await other.catch(() => undefined); // then the journal knows
        continue;
      }
      const run = this.#findOrSubmit(parcel, state, retriesFailed);
      this.#running.set(key, run);
      const submitted = await run.finally(() => this.#running.delete(key));
      if (submitted !== 'taken') {
        return submitted;
      }
    }
  }

  async #findOrSubmit(
    parcel: Parcel & { readonly once: OnceJob },
    state: CallState,
    retriesFailed: boolean,
  ): Promise<Submitted | 'taken'> {
    const { submitter, ledger, timeoutMs } = this.#parts;
    const { once, lane } = parcel;
    const { signal } = parcel.options;
    for (;;) {
      const found = await ledger.find(once, retriesFailed).catch((failure: unknown) => {
        if (!lane || !isJournalGone(failure)) {
          throw failure;
        }
        submitter.onJournalGone(failure); // a queue waits until it is back
        return undefined;
      });
      signal?.throwIfAborted();
      switch (found?.state) {
        case 'free':
          return submitter.submit({ ...parcel, once: { ...once, over: found.over } }, state);
        case 'accepted': {
          const { record, isSaved, isOver } = found;
          state.outcome = undefined;
          (await submitter.open()).seen(record.fileId, isOver);
          lane?.follow(record.folderId);
          return { ...knownAnswer(), data: [record], known: { isSaved } };
        }
        case 'claimed': {
          // Another run is about to submit it, or has ended: its answer decides, or its age.
          const leftMs = claimTimeouts * timeoutMs - found.ageMs;
          if (leftMs <= 0) {
            state.outcome = 'unknown';
            throw mayHaveBeenSubmitted();
          }
          await sleep(Math.min(askAgainMs, leftMs), signal);
          break;
        }
        case undefined:
          await sleep(askAgainMs, signal);
      }
    }
  }
}
