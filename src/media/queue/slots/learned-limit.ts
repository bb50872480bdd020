import type { Clock } from '../../../core/async.js';
import type { SlotEvidence } from '../steps/commands.js';

// After a refusal the queue tries one slot more each time so much has passed.
const growMs = 10 * 60_000;

interface Learned {
  readonly limit: number;
  readonly at: number;
}

/**
 * How many jobs at one time the service really takes: what it promises, halved after a refusal,
 * and slowly more again.
 */
export class LearnedLimit {
  readonly #most: number;
  readonly #clock: Clock;
  #learned: Learned;
  #beforeMaybeFull: Learned | undefined;
  #maxAccepted = 0;

  constructor(most: number, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
    this.#learned = { limit: most, at: Number.NEGATIVE_INFINITY };
  }

  get now(): number {
    const { limit } = this.#learned;
    return limit >= this.#most ? this.#most : Math.min(this.#most, limit + this.#steps());
  }

  /** So many jobs at one time the service has taken. */
  get maxAccepted(): number {
    return this.#maxAccepted;
  }

  /** When the limit grows by itself. */
  get nextAt(): number {
    const isFull = this.#learned.limit >= this.#most;
    return isFull ? Number.POSITIVE_INFINITY : this.#learned.at + (this.#steps() + 1) * growMs;
  }

  /** Learns from an answer; `slotsAfter` jobs were, or would have been, in progress, `others` are. */
  learn(evidence: SlotEvidence, slotsAfter: number, others: number): void {
    if (evidence === 'accepted') {
      this.#accept(slotsAfter);
    } else if (evidence === 'not-full') {
      this.#restore();
    } else {
      this.#shrink(evidence, slotsAfter, others);
    }
  }

  #accept(slotsAfter: number): void {
    this.#maxAccepted = Math.max(this.#maxAccepted, slotsAfter);
    this.#beforeMaybeFull = undefined;
    if (slotsAfter > this.#learned.limit) {
      this.#set(slotsAfter);
    }
  }

  #shrink(evidence: SlotEvidence, slotsAfter: number, others: number): void {
    if (evidence === 'maybe-full') {
      this.#beforeMaybeFull ??= this.#learned;
    } else if (slotsAfter <= this.#maxAccepted) {
      this.#maxAccepted = others; // others take slots too
    }
    const half = Math.max(others, Math.floor(slotsAfter / 2), 1);
    this.#set(Math.max(half, Math.min(this.#maxAccepted, slotsAfter - 1)));
  }

  // It was about a job, not about the slots.
  #restore(): void {
    this.#learned = this.#beforeMaybeFull ?? this.#learned;
    this.#beforeMaybeFull = undefined;
  }

  #set(limit: number): void {
    this.#learned = { limit: Math.min(limit, this.#most), at: this.#clock.now() };
  }

  #steps(): number {
    return Math.floor((this.#clock.now() - this.#learned.at) / growMs);
  }
}
