import type { PendingEvent } from '../types.js';

/** A `beforeSend` option: changes an event before it is stored; `null` drops it. */
export type BeforeSend = (event: PendingEvent) => PendingEvent | null;

/** One `beforeSend` of several; each gets what the one before it returned. */
export const chain =
  (...steps: readonly BeforeSend[]): BeforeSend =>
  (event) =>
    steps.reduce<PendingEvent | null>((made, step) => made && step(made), event);

/**
 * Keeps all events of a share of the visitors, 0 to 1, and none of the others: each browser draws
 * once and remembers it in localStorage. `beforeSend: sample(0.1)`.
 */
export const sample = (share: number): BeforeSend => {
  let lot: number | undefined;
  return (event) => {
    lot ??= Number(remember('postreel-sample', () => String(Math.random())));
    return lot < share ? event : null;
  };
};

/**
 * Adds when the event was tracked and its id as values of this event only, since the service sees
 * an event when it arrives: `data.timestamp` and `data.eventId`. `beforeSend: stamp`.
 */
export const stamp: BeforeSend = (event) => {
  const timestamp = { value: new Date().toISOString(), persistent: false } as const;
  const eventId = { value: event.id, persistent: false } as const;
  return { ...event, data: { timestamp, eventId, ...event.data } };
};

/**
 * True the first time that a browser asks for a key: `if (once('welcome')) tracker.track(…)`.
 * Remembered in localStorage; where that is forbidden, until the page ends.
 */
export const once = (key: string): boolean => {
  let isFirst = false;
  remember(`postreel-once-${key}`, () => {
    isFirst = true;
    return '1';
  });
  return isFirst;
};

const memory = new Map<string, string>();

/** What is noted under a key; noted now if it is not. */
const remember = (key: string, make: () => string): string => {
  let value: string | null | undefined;
  try {
    value = localStorage.getItem(key) ?? memory.get(key);
    value ??= make();
    memory.set(key, value);
    localStorage.setItem(key, value);
  } catch {
    value ??= memory.get(key) ?? make();
    memory.set(key, value);
  }
  return value;
};
