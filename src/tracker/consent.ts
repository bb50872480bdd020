/**
 * What the visitor decided, as times. The store and each tab keep a copy, and of two copies the later
 * time of each field is true: copies can be merged in any order, and none undoes another.
 */
export interface Decisions {
  /** Everything that was tracked until then is erased: by `reset()` and by `deny()`. */
  readonly erasedAt: number;
  readonly deniedAt: number;
  /** The last `consent.grant()`: nothing else undoes a denial. */
  readonly grantedAt: number;
}

export type Decision = 'erased' | 'denied' | 'granted';

export const UNDECIDED: Decisions = { erasedAt: 0, deniedAt: 0, grantedAt: 0 };

/** Of a denial and a grant at the same time, the denial is true. */
export const isDenied = ({ deniedAt, grantedAt }: Decisions): boolean =>
  deniedAt > 0 && deniedAt >= grantedAt;

export const merge = (one: Decisions, other: Decisions): Decisions => ({
  erasedAt: Math.max(one.erasedAt, other.erasedAt),
  deniedAt: Math.max(one.deniedAt, other.deniedAt),
  grantedAt: Math.max(one.grantedAt, other.grantedAt),
});

/** Does the first know of anything that the other does not? */
export const isAhead = (one: Decisions, other: Decisions): boolean =>
  one.erasedAt > other.erasedAt || one.deniedAt > other.deniedAt || one.grantedAt > other.grantedAt;

/** One more decision, later than all that are known and not before `now`. */
export const decided = (known: Decisions, decision: Decision, now: number): Decisions => {
  const at = Math.max(now, known.erasedAt + 1, known.deniedAt + 1, known.grantedAt + 1);
  return merge(known, {
    erasedAt: decision === 'granted' ? 0 : at,
    deniedAt: decision === 'denied' ? at : 0,
    grantedAt: decision === 'granted' ? at : 0,
  });
};

/** Reads a copy: other scripts may have left anything in its place. */
export const decisionsOf = (copy: unknown): Decisions => {
  // as: each field is checked below
  const { erasedAt, deniedAt, grantedAt } = Object(copy) as Record<keyof Decisions, unknown>;
  return { erasedAt: timeOf(erasedAt), deniedAt: timeOf(deniedAt), grantedAt: timeOf(grantedAt) };
};

const timeOf = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value < Infinity ? value : 0;
