import type { Clock } from '../../../async/clock.js';
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
  #beforeDoubt: Learned | undefined;
  #proven = 0;

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
  get proven(): number {
    return this.#proven;
  }

  /** When the limit grows by itself. */
  get nextAt(): number {
    const isFull = this.#learned.limit >= this.#most;
    return isFull ? Number.POSITIVE_INFINITY : this.#learned.at + (this.#steps() + 1) * growMs;
  }

  /** Learns from an answer; `level` jobs were, or would have been, in progress, `others` are. */
  learn(evidence: SlotEvidence, level: number, others: number): void {
    if (evidence === 'accepted') {
      this.#accept(level);
    } else if (evidence === 'cleared') {
      this.#restore();
    } else {
      this.#shrink(evidence, level, others);
    }
  }

  #accept(level: number): void {
    this.#proven = Math.max(this.#proven, level);
    this.#beforeDoubt = undefined;
    if (level > this.#learned.limit) {
      this.#set(level);
    }
  }

  #shrink(evidence: SlotEvidence, level: number, others: number): void {
    if (evidence === 'doubted') {
      this.#beforeDoubt ??= this.#learned;
    } else if (level <= this.#proven) {
      this.#proven = others; // others take slots too
    }
    const half = Math.max(others, Math.floor(level / 2), 1);
    this.#set(Math.max(half, Math.min(this.#proven, level - 1)));
  }

  // It was about a job, not about the slots.
  #restore(): void {
    this.#learned = this.#beforeDoubt ?? this.#learned;
    this.#beforeDoubt = undefined;
  }

  #set(limit: number): void {
    this.#learned = { limit: Math.min(limit, this.#most), at: this.#clock.now() };
  }

  #steps(): number {
    return Math.floor((this.#clock.now() - this.#learned.at) / growMs);
  }
}
