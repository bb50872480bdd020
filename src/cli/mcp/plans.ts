import { createHash, randomBytes } from 'node:crypto';
import { Refusal } from './refusal.js';

/** One line of a plan: what it is, and its value as a person reads it. */
export interface Fact {
  readonly label: string;
  /** May have several lines. Everything in it was made harmless by `quoted()` or `inline()`. */
  readonly text: string;
  /** A count of people that may change until the step, but not grow beyond `max`. */
  readonly people?: { readonly now: number; readonly max: number };
}

/** What a step will do, in the words that a person says yes to. */
export interface Description {
  /** `Send 1 email`. */
  readonly action: string;
  readonly facts: readonly Fact[];
  /** What was read for this description, and must not be read again: the bytes of a file. */
  readonly content?: unknown;
}

/** A step that waits for a person's yes. */
export interface Plan extends Description {
  readonly id: string;
  readonly tool: string;
  /** What will be handed to the service: frozen. */
  readonly input: unknown;
  /** Of the tool, the input and the description: a yes is to this and to nothing else. */
  readonly fingerprint: string;
  readonly expiresAt: number;
}

type Entry = Plan & { state: 'waiting' | 'approved' | 'used' };

/** How long a plan stands. */
export const planLifetimeMs = 10 * 60_000;
const maxPlans = 100;

/** The plans of one server, in memory: a plan that was not carried out ends with the process. */
export class Plans {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Writes a plan down. It stands for ten minutes. */
  add(tool: string, input: unknown, description: Description): Plan {
    this.#forgetOld();
    if (this.waiting().length >= maxPlans) {
      throw new Refusal(
        `${maxPlans} plans wait for a person already. Carry some of them out first.`,
      );
    }
    const plan = {
      ...description,
      id: randomBytes(9).toString('base64url'),
      tool,
      input,
      fingerprint: fingerprintOf(tool, input, description),
      expiresAt: this.#now() + planLifetimeMs,
      state: 'waiting' as const,
    };
    this.#entries.set(plan.id, plan);
    return plan;
  }

  /** Every plan that waits for a yes, oldest first. */
  waiting(): Plan[] {
    const now = this.#now();
    return [...this.#entries.values()].filter(
      ({ state, expiresAt }) => state === 'waiting' && expiresAt > now,
    );
  }

  /** A plan that can still be carried out; refuses one that is unknown, used or too old. */
  get(id: string): Plan {
    return this.#open(id);
  }

  isApproved(id: string): boolean {
    return this.#open(id).state === 'approved';
  }

  /** A person's yes, to exactly what this fingerprint stands for. */
  approve(id: string, fingerprint: string): void {
    const entry = this.#open(id);
    if (entry.fingerprint !== fingerprint) {
      throw new Refusal('This yes was given to another plan.');
    }
    entry.state = 'approved';
  }

  /** A person's no, or the end of the plan for another reason. */
  drop(id: string): void {
    this.#entries.delete(id);
  }

  /** Hands an approved plan out, once. */
  take(id: string): Plan {
    const entry = this.#open(id);
    if (entry.state !== 'approved') {
      throw new Refusal('No person has said yes to this plan.');
    }
    entry.state = 'used';
    return entry;
  }

  #open(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      throw new Refusal('There is no such plan. Make one with the plan_… tool.');
    }
    if (entry.state === 'used') {
      throw new Refusal('This plan was carried out already. Make a new one to do it again.');
    }
    if (entry.expiresAt <= this.#now()) {
      throw new Refusal('This plan is older than ten minutes. Make a new one.');
    }
    return entry;
  }

  // A used plan is remembered as long as it would have stood, for a clear refusal.
  #forgetOld(): void {
    const now = this.#now();
    for (const [id, { expiresAt }] of this.#entries) {
      if (expiresAt + planLifetimeMs <= now) {
        this.#entries.delete(id);
      }
    }
  }
}

/** What a yes is bound to. */
export function fingerprintOf(tool: string, input: unknown, description: Description): string {
  const { action, facts } = description;
  const compared = facts.filter(({ people }) => people === undefined);
  const text = JSON.stringify([
    tool,
    input,
    action,
    compared.map(({ label, text }) => [label, text]),
  ]);
  return createHash('sha256').update(text).digest('hex');
}

/** A copy as it goes over the wire, shared with no caller. */
export function frozen(value: unknown): unknown {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as unknown);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}
