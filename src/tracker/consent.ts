/**
 * The visitor's decisions, as times in milliseconds since 1970. The store and each tab keep a copy. For each
 * field the later time of two copies wins: copies can be merged in any order, and no copy undoes another.
 */
export interface Decisions {
  /** All events tracked up to this time are erased: by `reset()` and by `deny()`. */
  readonly erasedAt: number;
  readonly deniedAt: number;
  /** The last `consent.grant()`; only a grant undoes a denial. */
  readonly grantedAt: number;
}

export type Decision = 'erased' | 'denied' | 'granted';

export const UNDECIDED: Decisions = { erasedAt: 0, deniedAt: 0, grantedAt: 0 };

/** A denial wins over a grant at the same time. */
export const isDenied = ({ deniedAt, grantedAt }: Decisions): boolean =>
  deniedAt > 0 && deniedAt >= grantedAt;

export const merge = (one: Decisions, other: Decisions): Decisions => ({
  erasedAt: Math.max(one.erasedAt, other.erasedAt),
  deniedAt: Math.max(one.deniedAt, other.deniedAt),
  grantedAt: Math.max(one.grantedAt, other.grantedAt),
});

/** True if the first copy has a decision that the second one lacks. */
export const hasNewer = (one: Decisions, other: Decisions): boolean =>
  one.erasedAt > other.erasedAt || one.deniedAt > other.deniedAt || one.grantedAt > other.grantedAt;

/** Adds a decision, later than all known decisions and not before `now`. */
export const addDecision = (known: Decisions, decision: Decision, now: number): Decisions => {
  const at = Math.max(now, known.erasedAt + 1, known.deniedAt + 1, known.grantedAt + 1);
  return merge(known, {
    erasedAt: decision === 'granted' ? 0 : at,
    deniedAt: decision === 'denied' ? at : 0,
    grantedAt: decision === 'granted' ? at : 0,
  });
};

/** Reads a copy; invalid fields become 0, because other scripts may have written anything there. */
export const decisionsOf = (copy: unknown): Decisions => {
  // as: each field is checked below
  const { erasedAt, deniedAt, grantedAt } = Object(copy) as Record<keyof Decisions, unknown>;
  return { erasedAt: timeOf(erasedAt), deniedAt: timeOf(deniedAt), grantedAt: timeOf(grantedAt) };
};

const timeOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < Infinity ? value : 0;
