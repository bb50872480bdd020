import type { DropReason } from '../types.js';
import { type Decisions, decided, isAhead, isDenied, merge } from './decisions.js';
import { type EventRecord, NOBODY, type StoredRecord } from './record.js';
import { type Claim, type Entry, Life, Phase, type Queue } from './state.js';

// The life of an event and the rules between tabs: pure, so that a model test can try every order
// of things. `docs/tracker-protocol.md` tells it in prose, with a diagram.

/** No wait is longer: a wrong clock or a far Retry-After cannot stop the queue for good. */
export const MAX_WAIT = 3e5;
/** Events that are handed over at the end of a page. */
const MAX_AT_EXIT = 20;
/** Bytes of one request with several events. */
const MAX_BATCH_BYTES = 6e4;

/** Takes an event in. A page that is being left hands it over at once. */
export const take = (queue: Queue, entry: Entry): void => {
  queue.entries.push(entry);
  if (isAllowed(queue)) {
    queue.saveLocal(entry);
    queue.saveDurable([entry]);
  }
  if (queue.life === Life.Left) {
    leave(queue);
  }
};

/** Consent is given and the page is shown: what was kept in memory is stored. */
export const start = (queue: Queue): void => {
  queue.isStarted = true;
  sweep(queue);
  if (isAllowed(queue)) {
    // `grant()` may start it again: what is stored may be another tab's by now.
    queue.entries.filter(({ isStored }) => !isStored).forEach(queue.saveLocal);
  }
};

/** May events be stored and sent? */
export const isAllowed = ({ isStarted, decisions }: Queue): boolean =>
  isStarted && !isDenied(decisions);

/**
 * The stores are open, for the first time or again: each event is claimed, for others may have taken
 * it over while the page was away.
 */
export const open = (queue: Queue): void => {
  // Unless the page was left meanwhile.
  if (queue.life !== Life.Starting) {
    return;
  }
  queue.life = Life.Open;
  queue.isConsentKnown = true;
  for (const entry of queue.entries) {
    const { record } = entry;
    if (isForeign(queue, entry)) {
      continue;
    }
    if (record.owner === queue.owner) {
      queue.claim(entry, record);
    } else {
      rewrite(queue, entry, { owner: queue.owner });
    }
  }
};

/** Sends the next events, if there are any and nothing is on its way. */
export const tick = (queue: Queue): void => {
  sweep(queue);
  const isBusy = queue.entries.some(({ phase, isExit }) => phase !== Phase.Waiting && !isExit);
  if (queue.life !== Life.Open || isBusy || !queue.hasSlot()) {
    return;
  }
  // Marked first, so that no later page repeats them.
  for (const entry of nextBatch(queue)) {
    entry.phase = Phase.Marking;
    rewrite(queue, entry, { state: 1 });
  }
};

const nextBatch = (queue: Queue): Entry[] => {
  const batch: Entry[] = [];
  let size = 0;
  for (const entry of sendable(queue)) {
    if (isForeign(queue, entry)) {
      continue;
    }
    size += queue.sizeOf(entry.record);
    if (batch.length >= queue.maxBatch || (batch.length && size > MAX_BATCH_BYTES)) {
      break;
    }
    batch.push(entry);
  }
  return batch;
};

/** IndexedDB wrote a change, or did not: then another tab was first. Unknown: it cannot tell. */
export const claimed = (queue: Queue, { entry, record }: Claim, isWon?: boolean): void => {
  if (isWon === false) {
    // It may have been marked in localStorage, but was not sent: the mark must not stay.
    if (entry.record.state && entry.phase !== Phase.Sent) {
      release(queue, entry);
    }
    forget(queue, entry);
  }
  sweep(queue);
  const isStill = entry.phase === Phase.Marking && entry.record === record;
  if (isStill && queue.entries.includes(entry)) {
    // A database that failed may be closing with its page. One that fails again is broken.
    if (isWon || !entry.isStored || (entry.isDoubtful && queue.copyOf(record.id))) {
      entry.phase = Phase.Marked;
    } else {
      entry.phase = Phase.Waiting;
      entry.isDoubtful = true;
      revise(queue, entry, { state: 0 });
      queue.until = queue.now() + 1000;
    }
  }
  sendMarked(queue);
};

/** A batch is sent once IndexedDB has answered for all of it. */
const sendMarked = (queue: Queue): void => {
  const marked = queue.entries.filter(({ phase }) => phase === Phase.Marked);
  const isComplete = !queue.entries.some(({ phase }) => phase === Phase.Marking);
  if (isComplete && marked[0]) {
    send(queue, marked);
  }
};

/**
 * The page ends, perhaps for a while. What fits is handed over, unless the next page of the site can
 * send it; the rest is anybody's.
 */
export const leave = (queue: Queue): void => {
  sweep(queue);
  queue.life = Life.Left;
  const batch = exitBatch(queue);
  for (const entry of batch) {
    revise(queue, entry, { state: 1, owner: NOBODY });
  }
  const unmarked = queue.entries.filter((entry) => !batch.includes(entry) && release(queue, entry));
  // localStorage may be cleared, and then IndexedDB must not have the mark of what was not sent.
  if (batch[0] || unmarked[0]) {
    queue.saveDurable([...batch, ...unmarked]);
  }
  if (batch[0]) {
    send(queue, batch);
  }
  for (const entry of queue.entries) {
    entry.isExit ||= entry.phase === Phase.Sent;
  }
};

/** What is handed over at the end of the page. */
const exitBatch = (queue: Queue): Entry[] => {
  // A denial may stand in a store that has not answered yet.
  if (!queue.isConsentKnown) {
    return [];
  }
  let { room } = queue;
  return sendable(queue).filter((entry, index) => {
    // What is cleared is left to IndexedDB, which knows whose it is.
    const isGone = entry.isStored && !queue.copyOf(entry.record.id);
    // Memory ends with the page, and with it what was not handed over.
    const isKept = queue.isWithinSite && queue.isLasting && entry.isStored;
    if (index >= MAX_AT_EXIT || isGone || isKept || isForeign(queue, entry)) {
      return false;
    }
    room -= queue.sizeOf(entry.record);
    return room >= 0;
  });
};

/** Leaves an event to the next page that looks; true where that takes its mark back. */
const release = (queue: Queue, entry: Entry): boolean => {
  const isSent = entry.phase === Phase.Sent;
  const { owner, state } = entry.record;
  const isUnmarked = !isSent && !!state;
  if (!isSent) {
    entry.phase = Phase.Waiting;
  }
  if (!entry.isStored || (owner === NOBODY && !isUnmarked) || isForeign(queue, entry)) {
    return false;
  }
  revise(queue, entry, { owner: NOBODY, state: isSent ? 1 : 0 });
  return isUnmarked;
};

/** Binds what was tracked without a contact to the one that is known now. */
export const identify = (queue: Queue, email?: string): void => {
  sweep(queue);
  queue.email = email;
  queue.identifiedAt = Math.max(queue.now(), queue.decisions.erasedAt + 1);
  for (const entry of queue.entries) {
    if (entry.record.email || isForeign(queue, entry)) {
      continue;
    }
    if (isAllowed(queue)) {
      rewrite(queue, entry, { email });
    } else {
      change(queue, entry, { email });
    }
  }
};

/** Decides for all tabs; `copies` are the events in localStorage, of all tabs. */
export const decide = (
  queue: Queue,
  decision: 'erased' | 'denied' | 'granted',
  copies: readonly StoredRecord[] = [],
): void => {
  noteDecisions(queue, queue.storedDecisions());
  // Later than all of them, whatever the clock shows now.
  const known = [...copies, ...queue.entries.map(({ record }) => record)].map(({ at }) => at);
  const now = Math.max(queue.now(), queue.identifiedAt, ...known);
  noteDecisions(queue, decided(queue.decisions, decision, now));
};

/** True for an event that is neither finished nor erased. */
export const isAlive = ({ decisions }: Queue, record: StoredRecord): record is EventRecord =>
  !!record.event && record.at > decisions.erasedAt;

/** True once an event is too old; a clock that was never set cannot make it so. */
export const isExpired = (
  { now, maxAgeMs }: Pick<Queue, 'now' | 'maxAgeMs'>,
  { at }: StoredRecord,
): boolean => at > 17e11 && now() - at > maxAgeMs;

/** Reads what the visitor decided, in any tab, and drops what was erased or is too old. */
export const sweep = (queue: Queue): void => {
  const stored = queue.storedDecisions();
  noteDecisions(queue, stored);
  const { decisions } = queue;
  // Cleared by the host, or never written where only another tab or IndexedDB knew of it.
  if (isAhead(decisions, stored) && (queue.isDurable || isDenied(decisions))) {
    queue.saveDecisions(decisions);
  }
  for (const entry of queue.entries) {
    if (isExpired(queue, entry.record) && entry.phase !== Phase.Sent) {
      end(queue, entry, 'expired');
    }
  }
};

/** Obeys decisions, wherever they come from: what they erased is forgotten, the contact as well. */
export const noteDecisions = (queue: Queue, heard: Decisions): void => {
  const before = queue.decisions;
  if (!isAhead(heard, before)) {
    return;
  }
  queue.decisions = merge(before, heard);
  if (queue.decisions.erasedAt >= queue.identifiedAt) {
    queue.email = undefined;
  }
  const reason = heard.deniedAt > before.deniedAt ? 'denied' : 'reset';
  for (const entry of [...queue.entries]) {
    // What was tracked after a denial, before this tab knew of it, ends as well.
    if (isDenied(queue.decisions) || !isAlive(queue, entry.record)) {
      forget(queue, entry);
      // Stored perhaps while another tab erased.
      if (entry.isStored) {
        queue.removeRecord(entry.record.id);
      }
      queue.finish(entry, reason);
    }
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
    queue.saveLocal(entry);
  }
};

/** Changes an event that other tabs may want as well. */
export const rewrite = (queue: Queue, entry: Entry, changes: Partial<EventRecord>): void => {
  const seen = entry.record;
  revise(queue, entry, changes);
  queue.claim(entry, seen);
};

/**
 * True when the event belongs to another tab by now, or did since this one changed it; it is forgotten
 * here.
 */
export const isForeign = (queue: Queue, entry: Entry): boolean => {
  const copy = entry.isStored ? queue.copyOf(entry.record.id) : undefined;
  // Left to anybody: by this tab, or by another one that may have handed it over.
  const isReleased = copy?.owner === NOBODY && copy.version <= entry.record.version;
  const isOthers = !!copy && copy.owner !== queue.owner && !isReleased;
  if (isOthers) {
    forget(queue, entry);
  }
  return isOthers;
};

/** The events that may be sent now. */
const sendable = (queue: Queue): Entry[] => {
  const now = queue.now();
  // A wait that is too long was set by a clock that has been set back since.
  const isOver = (until: number) => until <= now || until > now + MAX_WAIT;
  const isReady = isAllowed(queue) && !queue.isPaused && queue.isOnline();
  if (!isReady || ![queue.until, queue.pausedUntil()].every(isOver)) {
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
    queue.deleteRecord(entry.record);
  }
  queue.finish(entry, reason);
};
