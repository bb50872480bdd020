import type { DropReason } from '../types.js';
import type { EventRecord, StoredRecord } from './record.js';
import { type Claim, type Entry, Life, Phase, type Queue } from './state.js';

// The life of an event and the rules between tabs: pure, so that a model test can try every order
// of things. `docs/tracker-protocol.md` tells it in prose, with a diagram.

/** No wait is longer: a wrong clock or a far Retry-After cannot stop the queue for good. */
export const LONGEST_WAIT = 3e5;

/** Takes an event in. A page that is being left hands it over at once. */
export const take = (queue: Queue, entry: Entry): void => {
  queue.entries.push(entry);
  if (queue.grantedAt) {
    queue.note(entry);
    queue.put([entry]);
  }
  if (queue.life === Life.Left) {
    leave(queue);
  }
};

/** Consent is given and the page is shown: what was held in memory is stored. */
export const grant = (queue: Queue): void => {
  queue.grantedAt = queue.now();
  sweep(queue);
  queue.entries.forEach(queue.note);
};

/** The stores are open, for the first time or again: each event is claimed, for others may have
 * taken it over while the page was away. */
export const open = (queue: Queue): void => {
  // Unless the page was left meanwhile.
  if (queue.life !== Life.Starting) {
    return;
  }
  queue.life = Life.Open;
  for (const entry of queue.entries) {
    queue.claim(entry, entry.record);
  }
};

/** Sends the next event, if there is one and nothing is on its way. */
export const tick = (queue: Queue): void => {
  sweep(queue);
  const isBusy = queue.entries.some(({ phase, isExit }) => phase !== Phase.Waiting && !isExit);
  const [entry] = sendable(queue);
  if (queue.life !== Life.Open || isBusy || !entry || !queue.hasSlot()) {
    return;
  }
  if (isForeign(queue, entry)) {
    tick(queue);
  } else {
    // Noted first, so that no later page repeats it.
    entry.phase = Phase.Marking;
    rewrite(queue, entry, { state: 1 });
  }
};

/** IndexedDB wrote a change, or did not: then another tab was first. Unknown: it cannot tell. */
export const claimed = (queue: Queue, { entry, record }: Claim, isWon?: boolean): void => {
  if (isWon === false) {
    forget(queue, entry);
  }
  sweep(queue);
  const isStill = entry.phase === Phase.Marking && entry.record === record;
  if (!isStill || !queue.entries.includes(entry)) {
    return;
  }
  // A database that failed may be closing with its page. One that fails again is broken.
  if (isWon || !entry.isStored || (entry.isDoubtful && queue.copyOf(record.id))) {
    send(queue, [entry]);
  } else {
    entry.phase = Phase.Waiting;
    entry.isDoubtful = true;
    revise(queue, entry, { state: 0 });
    queue.until = queue.now() + 1000;
  }
};

/** The page ends, perhaps for a while: hands over what fits. */
export const leave = (queue: Queue): void => {
  sweep(queue);
  queue.life = Life.Left;
  let { room } = queue;
  const batch = sendable(queue).filter((entry, index) => {
    // More are left to the next page, as is one whose copy is missing: erased, or cleared by others.
    const isGone = entry.isStored && !queue.copyOf(entry.record.id);
    if (index >= 20 || isGone || isForeign(queue, entry)) {
      return false;
    }
    room -= queue.sizeOf(entry.record);
    return room >= 0;
  });
  for (const entry of batch) {
    revise(queue, entry, { state: 1 });
  }
  if (batch[0]) {
    queue.put(batch);
    send(queue, batch);
  }
  for (const entry of queue.entries) {
    entry.isExit ||= entry.phase === Phase.Sent;
  }
};

/** Binds what was tracked without a contact to the one that is known now. */
export const identify = (queue: Queue, email?: string): void => {
  queue.email = email;
  for (const entry of queue.entries) {
    if (entry.record.email || isForeign(queue, entry)) {
      continue;
    }
    if (queue.grantedAt) {
      rewrite(queue, entry, { email });
    } else {
      change(queue, entry, { email });
    }
  }
};

/** Erases the events of all tabs, those in localStorage being known. */
export const erase = (queue: Queue, reason: DropReason, copies: readonly StoredRecord[]) => {
  // Later than all of them, whatever the clock says now.
  const known = [...copies, ...queue.entries.map(({ record }) => record)].map(({ at }) => at);
  const at = Math.max(queue.now(), queue.erasedAt + 1, ...known);
  const erasure = { id: queue.prefix, at, version: at, owner: reason };
  noteErasure(queue, erasure);
  return erasure;
};

/** True for an event that is neither finished nor erased. */
export const isAlive = ({ erasedAt }: Queue, record: StoredRecord): record is EventRecord =>
  !!record.event && record.at > erasedAt;

/** True once an event is too old; a clock that was never set cannot make it so. */
export const isExpired = (
  { now, maxAgeMs }: Pick<Queue, 'now' | 'maxAgeMs'>,
  { at }: StoredRecord,
): boolean => at > 17e11 && now() - at > maxAgeMs;

/** Drops what was erased by any tab, and what is too old. */
export const sweep = (queue: Queue): void => {
  noteErasure(queue, queue.copyOf(queue.prefix));
  for (const entry of queue.entries) {
    if (isExpired(queue, entry.record) && entry.phase !== Phase.Sent) {
      end(queue, entry, 'expired');
    }
  }
};

/** Forgets what was taken in until an erasure. One without consent ends this tab's as well. */
export const noteErasure = (queue: Queue, erasure?: StoredRecord): void => {
  if (!erasure || erasure.at <= queue.erasedAt) {
    return;
  }
  const { at, owner } = erasure;
  queue.erasedAt = at;
  // What was denied before this tab was granted consent says nothing about it.
  if (owner === 'denied' && at > queue.grantedAt) {
    queue.consent = owner;
    queue.grantedAt = 0;
  }
  for (const entry of queue.entries.filter(({ record }) => !isAlive(queue, record))) {
    forget(queue, entry);
    // What `erase` was given.
    queue.settle(entry, owner as DropReason);
  }
};

const forget = (queue: Queue, gone: Entry): void => {
  queue.entries = queue.entries.filter((entry) => entry !== gone);
};

const change = (queue: Queue, entry: Entry, changes: Partial<EventRecord>): void => {
  // The time of the change, or more where the clock was set back.
  const version = Math.max(queue.now(), entry.record.version + 1);
  entry.record = { ...entry.record, ...changes, version };
};

const revise = (queue: Queue, entry: Entry, changes: Partial<EventRecord>): void => {
  // What others cleared stays away until IndexedDB has told whose it is.
  const isGone = entry.isStored && !queue.copyOf(entry.record.id);
  change(queue, entry, changes);
  if (!isGone) {
    queue.note(entry);
  }
};

/** Changes an event that other tabs may want as well. */
export const rewrite = (queue: Queue, entry: Entry, changes: Partial<EventRecord>): void => {
  const seen = entry.record;
  revise(queue, entry, changes);
  queue.claim(entry, seen);
};

/** True when the event belongs to another tab by now; it is forgotten here. */
export const isForeign = (queue: Queue, entry: Entry): boolean => {
  const { owner } = (entry.isStored && queue.copyOf(entry.record.id)) || queue;
  const isOthers = owner !== queue.owner;
  if (isOthers) {
    forget(queue, entry);
  }
  return isOthers;
};

/** The events that may be sent now. */
const sendable = (queue: Queue): Entry[] => {
  const now = queue.now();
  // A wait that is too long was set by a clock that has been set back since.
  const isOver = (until: number) => until <= now || until > now + LONGEST_WAIT;
  const isReady = queue.grantedAt && !queue.isPaused && queue.isOnline();
  if (!isReady || ![queue.until, queue.heldUntil()].every(isOver)) {
    return [];
  }
  return queue.entries.filter(
    ({ phase, record, until }) => phase !== Phase.Sent && record.email && isOver(until),
  );
};

const send = (queue: Queue, batch: readonly Entry[]): void => {
  for (const entry of batch) {
    entry.phase = Phase.Sent;
    entry.size = queue.sizeOf(entry.record);
    queue.room -= entry.size;
  }
  queue.send(batch);
};

export const end = (queue: Queue, entry: Entry, reason?: DropReason): void => {
  forget(queue, entry);
  if (entry.isStored) {
    queue.bury(entry.record);
  }
  queue.settle(entry, reason);
};
