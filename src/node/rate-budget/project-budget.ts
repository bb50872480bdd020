import { randomUUID } from 'node:crypto';
import {
  capacityOf,
  maxCloseMs,
  type BudgetLimits,
  type StoreAnswer,
} from '../../core/rate-store.js';

/** What a file knows about one project. All times are points on the timeline of the file. */
export interface ProjectBudget {
  /** Requests under way: until when each may keep its slot. */
  readonly leased: Map<string, number>;
  /** When the slots of answered requests come free. */
  held: number[];
  /** Nothing is sent before: the service asked for it. */
  closedUntil: number;
  /** When it was closed, or last tried by a probe. */
  triedAt: number;
  /** Places for jobs that are not finished: until when each may be kept. */
  readonly places: Map<string, number>;
}

export function emptyBudget(): ProjectBudget {
  return { leased: new Map(), held: [], closedUntil: 0, triedAt: 0, places: new Map() };
}

/** Takes up to so many slots, or says how long it will be before one can come free. */
export function takeSlots(
  budget: ProjectBudget,
  limits: BudgetLimits,
  { leaseMs, count }: { leaseMs: number; count: number },
  now: number,
): StoreAnswer {
  expire(budget, leaseMs, now);
  budget.closedUntil = Math.min(budget.closedUntil, now + maxCloseMs);
  const isProbe = budget.closedUntil > now;
  if (isProbe && now - budget.triedAt < limits.windowMs) {
    return { waitMs: budget.closedUntil - now };
  }
  const free = capacityOf(limits) - budget.leased.size - budget.held.length;
  if (free <= 0) {
    return { waitMs: Math.max(1, nextFreeAt(budget, limits, now) - now) };
  }
  budget.triedAt = now;
  const slots = Array.from({ length: isProbe ? 1 : Math.min(count, free) }, () => randomUUID());
  for (const slot of slots) {
    budget.leased.set(slot, now + leaseMs);
  }
  return { slots, isProbe };
}

/** Keeps a slot until its time; one whose lease has run out was sent all the same. */
export function holdSlot(budget: ProjectBudget, slot: string, until: number): void {
  freeSlot(budget, slot);
  budget.held.push(until);
}

/** Gives a slot back at once. */
export function freeSlot(budget: ProjectBudget, slot: string): void {
  budget.leased.delete(slot);
}

/** Closes the budget until a point in time. */
export function closeBudget(budget: ProjectBudget, until: number, now: number): void {
  budget.closedUntil = Math.max(budget.closedUntil, until);
  budget.triedAt = now;
}

/** Opens the budget again. */
export function reopenBudget(budget: ProjectBudget): void {
  budget.closedUntil = 0;
}

/** Takes up to so many of the places that are free, each for at most a time. */
export function takePlaces(
  budget: ProjectBudget,
  { count, limit, leaseMs }: { count: number; limit: number; leaseMs: number },
  now: number,
): string[] {
  expireAll(budget.places, leaseMs, now);
  const open = Math.max(0, limit - budget.places.size);
  const taken = Array.from({ length: Math.min(count, open) }, () => randomUUID());
  for (const place of taken) {
    budget.places.set(place, now + leaseMs);
  }
  return taken;
}

/** Keeps places under their names, in exchange for others. */
export function holdPlaces(
  budget: ProjectBudget,
  {
    names,
    instead,
    until,
  }: { names: readonly string[]; instead: readonly string[]; until: number },
): void {
  freePlaces(budget, instead);
  for (const name of names) {
    budget.places.set(name, until);
  }
}

export function freePlaces(budget: ProjectBudget, places: readonly string[]): void {
  for (const place of places) {
    budget.places.delete(place);
  }
}

/** Does nothing in a budget matter any more? */
export function isIdle({ leased, held, closedUntil, places }: ProjectBudget, now: number): boolean {
  const times = [closedUntil, ...held, ...leased.values(), ...places.values()];
  return times.every((until) => until <= now);
}

// Nothing lasts longer than it could at most, whatever the file holds.
function expire(budget: ProjectBudget, maxMs: number, now: number): void {
  expireAll(budget.leased, maxMs, now);
  if (budget.held.every((until) => until > now && until <= now + maxMs)) {
    return;
  }
  budget.held = budget.held
    .filter((until) => until > now)
    .map((until) => Math.min(until, now + maxMs));
}

function expireAll(times: Map<string, number>, maxMs: number, now: number): void {
  for (const [id, until] of times) {
    if (until <= now) {
      times.delete(id);
    } else if (until > now + maxMs) {
      times.set(id, now + maxMs);
    }
  }
}

// A request under way is answered at the earliest now, and frees its slot a window later.
function nextFreeAt(
  { held, leased }: ProjectBudget,
  { windowMs }: BudgetLimits,
  now: number,
): number {
  const times = [...held, ...leased.values()];
  const latest = leased.size > 0 ? now + windowMs : Number.POSITIVE_INFINITY;
  return times.reduce((first, time) => Math.min(first, time), latest);
}
