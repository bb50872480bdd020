import { onAbort } from '../../../core/async.js';
import type { MediaJob } from '../../generate/media-job.js';
import { FileIdsMissingError } from '../../generate/accepted.js';
import type { JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import { NamesTaken } from '../../jobs/submit.js';
import type { QueueHost } from '../host.js';
import type { QueueEvent } from '../steps/events.js';
import type { Entry } from '../steps/jobs.js';
import { refusalOf } from './failures.js';

/** What the calls of a queue need of its driver. */
export interface CallParts {
  readonly host: QueueHost;
  readonly signal: AbortSignal;
  readonly retriesFailed: boolean;
  readonly folderId: string | undefined;
  readonly inputs: (entries: readonly Entry[]) => MediaJob[];
  readonly dispatch: (event: QueueEvent) => void;
  /** Jobs were accepted, whether anybody waits for them or not. */
  readonly adopt: (records: readonly JobRecord[]) => void;
}

/** Makes the calls of a queue, and takes the slots for them. */
export class QueueCalls {
  readonly #parts: CallParts;
  /** The names of jobs whose file an earlier run has saved. */
  readonly saved = new Set<string>();
  #slots: readonly string[] = [];
  #folderId: string | undefined;
  /** Brings the call back that has not left. */
  #recall = new AbortController();

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#folderId = parts.folderId;
  }

  /** Learns what the journal knows of jobs before they are followed. */
  learn(known: Iterable<readonly [string | undefined, KnownJob | undefined]>): void {
    for (const [name, job] of known) {
      if (job?.state !== 'accepted') {
        continue;
      }
      // The videos of a resumed queue go where the earlier ones went.
      this.#folderId ??= job.job.folderId;
      if (job.isSaved && name !== undefined) {
        this.saved.add(name);
      }
    }
  }

  async submit(entries: readonly Entry[], atLeast: number): Promise<void> {
    const { host, signal, dispatch } = this.#parts;
    const { slots } = host;
    this.#recall = new AbortController();
    this.#slots = await slots.take(entries.length, atLeast);
    if (signal.aborted) {
      slots.release(this.#slots);
      return;
    }
    const sent = entries.slice(0, this.#slots.length);
    if (sent.length < entries.length) {
      dispatch({ type: 'trimmed', count: sent.length, askAgainMs: slots.askAgainMs });
    }
    if (sent.length > 0) {
      await this.#call(sent);
    }
  }

  /** Brings the call back, unless it has left. */
  recall(): void {
    this.#recall.abort(new Error('The queue submits no more.'));
  }

  /** Shares out the slots of the last call. */
  assignSlots(fileIds: readonly string[], uncertain: number): void {
    const { slots } = this.#parts.host;
    const taken = this.#slots;
    const certain = fileIds.length;
    this.#slots = [];
    slots.hold(fileIds, taken.slice(0, certain));
    slots.holdUncertain(taken.slice(certain, certain + uncertain));
    slots.release(taken.slice(certain + uncertain));
  }

  async #call(entries: readonly Entry[]): Promise<void> {
    const { host, signal, retriesFailed, inputs, dispatch } = this.#parts;
    const names = entries.flatMap(({ name }) => name ?? []);
    const { signal: recalled } = this.#recall;
    const stopListening = onAbort(signal, () => this.#recall.abort(signal.reason));
    const call = host.submit(inputs(entries), {
      names: names.length > 0 ? names : undefined,
      retriesFailed,
      folderId: this.#folderId,
      signal: recalled,
    });
    try {
      this.#accept(await call);
    } catch (failure) {
      let isUncertain = failure instanceof FileIdsMissingError;
      if (failure instanceof FileIdsMissingError) {
        this.#accept(failure.accepted.jobs, failure);
      } else if (failure instanceof NamesTaken) {
        this.learn(failure.taken);
        dispatch({ type: 'names-taken', taken: failure.taken });
      } else if (recalled.aborted && !signal.aborted && call.outcome === 'not-sent') {
        this.#comeBack();
      } else {
        const refusal = refusalOf(failure, call.outcome, entries.length);
        dispatch({ type: 'refused', refusal });
        isUncertain = refusal.kind === 'unknown' || refusal.mayBeHalfWay;
      }
      // Nobody shares its slots out any more.
      if (signal.aborted) {
        host.slots[isUncertain ? 'holdUncertain' : 'release'](this.#slots);
      }
    } finally {
      stopListening();
    }
  }

  #comeBack(): void {
    this.assignSlots([], 0);
    this.#parts.dispatch({ type: 'trimmed', count: 0, askAgainMs: 0 });
  }

  #accept(jobs: readonly (JobRecord | null)[], error?: unknown): void {
    const { host, signal, dispatch, adopt } = this.#parts;
    const records = jobs.filter((job) => job !== null);
    this.#folderId ??= records[0]?.folderId;
    adopt(records);
    if (signal.aborted) {
      // Their caller no longer waits for them, but they exist.
      const fileIds = records.map(({ fileId }) => fileId);
      host.slots.hold(fileIds, this.#slots);
      host.slots.abandon(fileIds);
    }
    dispatch({ type: 'accepted', jobs, error });
  }
}
