import {
  type Decision,
  type Decisions,
  decided,
  isAhead,
  isDenied,
  merge,
  UNDECIDED,
} from './consent.js';
import type { DropReason, EventData, TrackerNotices } from './types.js';

// The life of an event and the rules between tabs. No timer, no store and no request in here: the page
// connects the ports with the browser, and a model test with a made-up world.

/** An event as it is stored, under its id. */
export interface EventRecord {
  readonly id: string;
  /** When it was tracked, by the wall clock of that moment. */
  readonly at: number;
  /** The tab that may send it; {@link NOBODY} once that tab was left. */
  readonly owner: string;
  /** Written before its request is made: the service may have it. */
  readonly isHandedOver?: boolean | undefined;
  /** How often it was sent with an answer that leaves open whether the service took it. */
  readonly tries?: number | undefined;
  /** Until when the service has asked to wait, by a 429 to this event. */
  readonly waitUntil?: number | undefined;
  readonly event: string;
  readonly email?: string | undefined;
  readonly data?: EventData | undefined;
}

/** The owner of an event whose page was left: any tab may take it over. */
export const NOBODY = '';

/** An event of this tab, as the tab knows it. */
export interface QueuedEvent {
  record: EventRecord;
  /** The store has it, where other tabs may take it over or erase it. */
  isStored: boolean;
  /** Its request is made, and not answered yet. */
  isSent: boolean;
  /** Its request belongs to a page that was left: no failure of it proves anything. */
  isExit: boolean;
  /** Answers in this page that did not end it, other than a 429. */
  failures: number;
  /** Not sent again before. */
  until: number;
  /** What it takes of the page's budget for requests that outlive it. */
  reserved: number;
}

/** What came back: status 0 when nothing came, -1 when nothing came for too long. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string | null | undefined;
}

/** How an event ends for this tab; `elsewhere`: another tab has it now. */
export type End = 'delivered' | 'unconfirmed' | 'elsewhere' | DropReason;

/** What tabs tell each other. */
export interface Told {
  readonly decisions: Decisions;
  /** Until when a 429 makes all of them wait. */
  readonly pausedUntil: number;
  /** Only in the message that `grant()` sends: it ends `pending` in the tabs that are open. */
  readonly isGrant?: boolean;
}

/** Where events and decisions outlive a page. Nothing in here throws. */
export interface Store {
  /** False where events are in memory alone: as asked for, or from the first failure on. */
  readonly keepsEvents: boolean;
  readonly get: (id: string) => EventRecord | undefined;
  /** False when it was not written. */
  readonly set: (record: EventRecord) => boolean;
  readonly remove: (id: string) => void;
  /** Characters of all events, as this tab last saw them. */
  readonly length: () => number;
  /** The events of all tabs. */
  readonly all: () => readonly EventRecord[];
  /** Removes whatever is ours, but not the decisions; returns how many keys that were. */
  readonly erase: () => number;
  readonly decisions: () => Decisions;
  readonly saveDecisions: (decisions: Decisions) => void;
}

/** Bytes that the browser carries beyond the end of a page, for all trackers of the page. */
export interface Budget {
  /** False when there is not so much left. */
  readonly take: (bytes: number) => boolean;
  readonly giveBack: (bytes: number) => void;
}

/** What a queue asks of the world. Nothing here calls back before the step has ended. */
export interface Ports {
  readonly store: Store;
  readonly budget: Budget;
  readonly now: () => number;
  /** A hint: browsers say "offline" of some connections that work. */
  readonly isOnline: () => boolean;
  readonly bytesOf: (record: EventRecord) => number;
  /** Makes one request; `answered` is called with what came back. */
  readonly send: (batch: readonly QueuedEvent[], isKeptAlive: boolean) => void;
  /** True while a request with this event is open that a disposed tracker of this page has made. */
  readonly isOpen: (id: string) => boolean;
  readonly tell: (told: Told) => void;
  readonly ended: (entry: QueuedEvent, end: End) => void;
  readonly emit: <Notice extends 'retry' | 'paused' | 'blocked'>(
    notice: Notice,
    detail: TrackerNotices[Notice],
  ) => void;
}

/** How a queue is to behave. Times are in milliseconds. */
export interface QueueOptions {
  /** The name of this tab. */
  readonly owner: string;
  readonly delivery: 'no-duplicates' | 'no-loss';
  readonly retryAmbiguous: boolean;
  readonly maxAgeMs: number;
  /** Events in one request: 1, or more for a proxy. */
  readonly maxBatch: number;
  readonly limit: { readonly perSecond: number; readonly burst: number };
}

/** No wait is longer: a wrong clock or a far Retry-After cannot stop the queue for good. */
export const MAX_WAIT_MS = 300_000;
/** How often an event may be sent whose answers leave open whether the service took it. */
const MAX_TRIES = 3;
/** Failures of one event after which the others go first. */
const MAX_IN_FRONT = 3;
/** Events that are handed over at the end of a page. */
const MAX_AT_EXIT = 100;
/** Bytes of one request with several events. */
const MAX_BATCH_BYTES = 60_000;
/** How often a request is tried while the browser says that it is offline. */
const OFFLINE_TRY_MS = 60_000;

/** The events of one tab, and when they are sent. */
export class Queue {
  entries: readonly QueuedEvent[] = [];
  /** The name of this tab. */
  readonly owner: string;
  /** The contact of what is tracked from now on. */
  email: string | undefined;
  /** What the visitor decided, in any tab, as far as this one knows. */
  decisions = UNDECIDED;
  /** The page gave consent and is shown. A denial may stand against it. */
  isStarted = false;
  isLeft = false;
  /** The page is about to be replaced by another one of its site. */
  isWithinSite = false;
  /** Set by `pause()` and by answers that no retry can change. */
  isPaused = false;

  /** How the queue was left; see `leave()`. */
  #isPageOver = false;
  readonly #ports: Ports;
  readonly #options: QueueOptions;
  /** When the contact was set: an erasure since then forgets it. */
  #identifiedAt = 0;
  #hasDecided = false;
  /** Taken over, but not certain yet. */
  #claims: ReadonlySet<string> = new Set();
  /** Nothing is sent before: after a failure, and after a 429. */
  #retryAt = 0;
  #pausedUntil = 0;
  /** Failures in a row, and those without any answer. */
  #failures = 0;
  #unanswered = 0;
  /** What the request that is being answered makes the queue wait. */
  #delayMs: number | undefined;
  /** Since when the browser says that it is offline; never again once an answer came all the same. */
  #offlineSince: number | undefined;
  #isHintWrong = false;
  #slots: number;
  #slotsAt = 0;

  constructor(ports: Ports, options: QueueOptions) {
    this.#ports = ports;
    this.#options = options;
    this.owner = options.owner;
    this.#slots = options.limit.burst;
  }

  /** May events be stored and sent? */
  get isAllowed(): boolean {
    return this.isStarted && !isDenied(this.decisions);
  }

  /** A request is open, whose answer may end events of this queue. */
  get hasOpenRequest(): boolean {
    return this.entries.some(({ isSent }) => isSent);
  }

  /** Events are being taken over, which can be sent a moment later. */
  get isTakingOver(): boolean {
    return this.#claims.size > 0;
  }

  /** Takes an event in. A page that is being left hands it over at once. */
  take(record: EventRecord): QueuedEvent {
    const entry = entryOf(record, false);
    this.entries = [...this.entries, entry];
    if (this.isAllowed) {
      this.#save(entry);
    }
    if (this.isLeft) {
      this.leave(this.#isPageOver);
    }
    return entry;
  }

  /** Consent is given and the page is shown: what was kept in memory is stored. */
  start(): void {
    this.isStarted = true;
    this.obey();
    if (this.isAllowed) {
      this.entries.filter(({ isStored }) => !isStored).forEach((entry) => this.#save(entry));
    }
  }

  /**
   * Sends what may be sent: one request at a time for each contact, so that its events arrive in order.
   * Returns when to look again, in the clock's milliseconds; `Infinity` where nothing but a cause helps.
   */
  pump(): number {
    this.obey();
    this.expire();
    if (!this.isAllowed || this.isLeft || this.isPaused) {
      return Infinity;
    }
    const busy = new Set(
      this.entries.flatMap(({ isSent, isExit, record }) => (isSent && !isExit ? record.email : [])),
    );
    while (this.#startsAt() <= this.#ports.now()) {
      const batch = this.#nextBatch(busy);
      if (!batch.length) {
        break;
      }
      this.#slots--;
      for (const entry of batch) {
        busy.add(entry.record.email);
        this.#mark(entry, this.owner);
      }
      // Other scripts may have used the room up, which looks like a lost answer: then without.
      const isKeptAlive = this.#unanswered === 0 && this.#reserve(batch);
      this.#ports.send(batch, isKeptAlive);
    }
    const startsAt = this.#startsAt();
    const waiting = this.entries.filter((entry) => this.#isWaiting(entry, busy));
    return Math.min(...waiting.map(({ until }) => Math.max(until, startsAt)));
  }

  /** Ends events or keeps them, by the answers to one request: it fails once, however many it carried. */
  answered(batch: readonly QueuedEvent[], answerTo: (index: number) => Answer): void {
    this.#delayMs = undefined;
    // Another tab may have erased an event whose answer would have it stored again.
    this.obey();
    batch.forEach((entry, index) => this.#answered(entry, answerTo(index)));
  }

  /**
   * Hands over the events that fit, after all of them were marked, and releases the others for any
   * tab. Where nothing can be reached, or a wait runs, the stored events stay stored.
   *
   * @param isPageOver The page ends, perhaps for a while: then any tab may take its open requests as
   *   unconfirmed. Otherwise only this tracker ends, and the answers still decide.
   */
  leave(isPageOver = true): void {
    this.obey();
    this.isLeft = true;
    this.#isPageOver = isPageOver;
    const sentOwner = isPageOver ? NOBODY : this.owner;
    const isReachable = !this.#unanswered && this.#isOver(this.#waitsUntil());
    const batch: QueuedEvent[] = [];
    for (const entry of this.entries) {
      if (!this.#isOurs(entry, [this.owner])) {
        continue;
      }
      const isNext = batch.length < MAX_AT_EXIT && this.#isForExit(entry, isReachable);
      if (isNext && this.#reserve([entry])) {
        batch.push(entry);
        this.#mark(entry, sentOwner);
      } else {
        entry.isExit = isPageOver && entry.isSent;
        this.#change(entry, { owner: entry.isSent ? sentOwner : NOBODY });
      }
    }
    this.#releaseClaims();
    for (const entries of this.#batchesOf(batch)) {
      for (const entry of entries) {
        entry.isExit = isPageOver;
      }
      this.#ports.send(entries, true);
    }
  }

  /** The page is shown again; what it has released has to be claimed anew. */
  comeBack(): void {
    this.isLeft = false;
    this.isWithinSite = false;
    for (const entry of this.entries) {
      if (!entry.isStored) {
        entry.record = { ...entry.record, owner: this.owner };
      }
    }
    this.obey();
  }

  /** Ends the wait after a failure; not that after a 429, which the service asked for. */
  retryNow(): void {
    this.#retryAt = 0;
    this.#offlineSince = this.#ports.now() - OFFLINE_TRY_MS;
  }

  /** Binds what was tracked without a contact to the one that is known now. */
  identify(email: string | undefined): void {
    this.obey();
    this.email = email;
    this.#identifiedAt = Math.max(this.#ports.now(), this.decisions.erasedAt + 1);
    for (const entry of this.entries) {
      if (!entry.record.email && this.#isOurs(entry, [this.owner])) {
        this.#change(entry, { email });
      }
    }
  }

  /** Decides for all tabs: here first, then in the store, then in the other tabs. */
  decide(decision: Decision): void {
    const { store, now } = this.#ports;
    // Later than every known event, also where a clock was set back since.
    const times = [...this.entries.map(({ record }) => record), ...store.all()].map(({ at }) => at);
    const at = Math.max(now(), this.#identifiedAt, ...times);
    this.hear(decided(this.decisions, decision, at));
    const stored = store.decisions();
    if (isAhead(stored, this.decisions)) {
      this.hear(decided(merge(this.decisions, stored), decision, at));
    }
    const erased = decision === 'granted' ? 0 : store.erase();
    // Without consent, the erasure of an empty store leaves nothing behind. A denial has to, and so has an
    // erasure of events: a page that is just being left must not store them again.
    if (decision !== 'erased' || this.isStarted || erased) {
      this.#hasDecided = true;
      store.saveDecisions(this.decisions);
    }
    this.#ports.tell(decision === 'granted' ? { ...this.told, isGrant: true } : this.told);
  }

  /** Reads what was decided in any tab, and writes it back where others have cleared it. */
  obey(): void {
    const { store } = this.#ports;
    const stored = store.decisions();
    this.hear(stored);
    if (isAhead(this.decisions, stored) && (this.isStarted || this.#hasDecided)) {
      store.saveDecisions(this.decisions);
    }
  }

  /** Obeys decisions, wherever they come from: what they erased is forgotten, the contact as well. */
  hear(heard: Decisions): void {
    const before = this.decisions;
    if (!isAhead(heard, before)) {
      return;
    }
    this.decisions = merge(before, heard);
    if (this.decisions.erasedAt >= this.#identifiedAt) {
      this.email = undefined;
    }
    const reason = heard.deniedAt > before.deniedAt ? 'denied' : 'reset';
    for (const entry of this.entries) {
      if (!this.#isAlive(entry.record)) {
        this.#end(entry, reason);
      }
    }
  }

  /** Drops what is too old, which a clock that was never set makes nothing. */
  expire(): void {
    const now = this.#ports.now();
    for (const entry of this.entries) {
      const { at } = entry.record;
      if (!entry.isSent && at > 17e11 && now - at > this.#options.maxAgeMs) {
        this.#end(entry, 'expired');
      }
    }
  }

  /** What other tabs have to know. */
  get told(): Told {
    return { decisions: this.decisions, pausedUntil: this.#pausedUntil };
  }

  /** Another tab was asked to wait. */
  pauseUntil(time: number): void {
    const isLater = time > this.#pausedUntil || this.#isOver(this.#pausedUntil);
    if (isLater && !this.#isOver(time)) {
      this.#pausedUntil = time;
    }
  }

  /** Reads what is stored: waits are heeded, and what was erased is removed. Returns the rest. */
  readAll(): readonly EventRecord[] {
    const { store } = this.#ports;
    this.obey();
    const records = store.all().filter((record) => {
      const isAlive = this.#keepsAlive(record);
      if (isAlive) {
        this.pauseUntil(record.waitUntil ?? 0);
      }
      return isAlive;
    });
    this.#forgetTaken(records);
    return records;
  }

  /** Puts this tab's name on events whose owner let go of them or is gone; `adopt` makes it certain. */
  claim(isOrphan: (record: EventRecord) => boolean): void {
    if (!this.isAllowed || this.isLeft) {
      return;
    }
    const claims = new Set(this.#claims);
    for (const record of this.readAll()) {
      // The answer to an open request of this page decides, whichever tracker made the request.
      const isSent = this.entries.some((entry) => entry.record.id === record.id && entry.isSent);
      if (isOrphan(record) && !isSent && !this.#ports.isOpen(record.id)) {
        if (this.#ports.store.set({ ...record, owner: this.owner })) {
          claims.add(record.id);
        }
      }
    }
    this.#claims = claims;
  }

  /** Takes over what still has this tab's name on it: another tab may have written its own. */
  adopt(): void {
    this.obey();
    for (const id of this.#claims) {
      const record = this.#ports.store.get(id);
      if (!record || record.owner !== this.owner || !this.#keepsAlive(record)) {
        continue;
      }
      const known = this.entries.find((entry) => entry.record.id === id);
      const entry = known ?? entryOf(record, true);
      entry.record = { ...record, email: record.email ?? this.email, isHandedOver: undefined };
      if (!known) {
        this.entries = [...this.entries, entry];
      }
      if (record.isHandedOver && this.#options.delivery === 'no-duplicates') {
        this.#end(entry, 'unconfirmed');
      }
    }
    this.#claims = new Set();
    this.entries = [...this.entries].sort(
      ({ record: one }, { record: other }) => one.at - other.at || (one.id > other.id ? 1 : -1),
    );
  }

  /** What this page had released, and another tab has now, or has sent. */
  #forgetTaken(records: readonly EventRecord[]): void {
    const owners = new Map(records.map(({ id, owner }) => [id, owner]));
    for (const entry of this.entries) {
      const isReleased = entry.isStored && !entry.isSent && entry.record.owner === NOBODY;
      const owner = owners.get(entry.record.id);
      if (isReleased && owner !== NOBODY && owner !== this.owner) {
        this.#forget(entry);
        this.#ports.ended(entry, 'elsewhere');
      }
    }
  }

  /** The page ends before it was certain. */
  #releaseClaims(): void {
    const { store } = this.#ports;
    for (const id of this.#claims) {
      const record = store.get(id);
      if (record?.owner === this.owner && this.#keepsAlive(record)) {
        store.set({ ...record, owner: NOBODY });
      }
    }
    this.#claims = new Set();
  }

  #isAlive({ at }: EventRecord): boolean {
    return at > this.decisions.erasedAt && !isDenied(this.decisions);
  }

  /** The same of a stored event, which is removed otherwise: it was written while others erased it. */
  #keepsAlive(record: EventRecord): boolean {
    const isAlive = this.#isAlive(record);
    if (!isAlive) {
      this.#ports.store.remove(record.id);
    }
    return isAlive;
  }

  /** The next events for one request, of contacts that wait for no answer. */
  #nextBatch(busy: ReadonlySet<string | undefined>): QueuedEvent[] {
    const batch: QueuedEvent[] = [];
    let size = 0;
    for (const entry of this.entries) {
      if (!this.#isWaiting(entry, busy) || !this.#isOver(entry.until)) {
        continue;
      }
      size += this.#ports.bytesOf(entry.record);
      if (batch.length && size > MAX_BATCH_BYTES) {
        break;
      }
      if (this.#isOurs(entry, [this.owner])) {
        batch.push(entry);
      }
      if (batch.length === this.#options.maxBatch) {
        break;
      }
    }
    return batch;
  }

  #batchesOf(entries: readonly QueuedEvent[]): (readonly QueuedEvent[])[] {
    const { maxBatch } = this.#options;
    const count = Math.ceil(entries.length / maxBatch);
    return Array.from({ length: count }, (_, index) =>
      entries.slice(index * maxBatch, (index + 1) * maxBatch),
    );
  }

  /** Nothing but time stands between this event and its request. */
  #isWaiting({ isSent, record }: QueuedEvent, busy: ReadonlySet<string | undefined>): boolean {
    const isOwn = record.owner !== NOBODY && !this.#claims.has(record.id);
    return isOwn && !isSent && !!record.email && !busy.has(record.email);
  }

  #isForExit({ isSent, isStored, record, until }: QueuedEvent, isReachable: boolean): boolean {
    // With `no-loss` what is handed over comes twice: the next page of the site sends it.
    const isNextPages = this.isWithinSite && this.#options.delivery === 'no-loss';
    // Memory ends with the page: what has no other chance is handed over all the same.
    const isKept = isStored && (!isReachable || isNextPages);
    const isReady = this.isAllowed && !this.isPaused && !isSent && this.#isOver(until);
    return isReady && !!record.email && !isKept;
  }

  /** When the next request may be made. */
  #startsAt(): number {
    return Math.max(this.#waitsUntil(), this.#slotAt());
  }

  /** When every wait is over. */
  #waitsUntil(): number {
    const now = this.#ports.now();
    if (this.#isHintWrong || this.#ports.isOnline()) {
      this.#offlineSince = undefined;
    } else {
      this.#offlineSince ??= now;
    }
    const offlineUntil = (this.#offlineSince ?? -OFFLINE_TRY_MS) + OFFLINE_TRY_MS;
    const waits = [this.#retryAt, this.#pausedUntil, offlineUntil];
    return Math.max(0, ...waits.filter((until) => !this.#isOver(until)));
  }

  /** A wait that is too long was set by a clock that has been set back since. */
  #isOver(until: number): boolean {
    const now = this.#ports.now();
    return until <= now || until > now + MAX_WAIT_MS;
  }

  /** When the pace of this tab allows one more request. */
  #slotAt(): number {
    const { perSecond, burst } = this.#options.limit;
    const now = this.#ports.now();
    const passedMs = Math.max(0, now - this.#slotsAt);
    this.#slots = Math.min(burst, this.#slots + (passedMs * perSecond) / 1000);
    this.#slotsAt = now;
    if (this.#slots >= 1) {
      return now;
    }
    return burst < 1 ? Infinity : now + Math.ceil(((1 - this.#slots) * 1000) / perSecond);
  }

  #reserve(batch: readonly QueuedEvent[]): boolean {
    const sizes = batch.map(({ record }) => this.#ports.bytesOf(record));
    const isReserved = this.#ports.budget.take(sizes.reduce((sum, size) => sum + size, 0));
    for (const [index, entry] of batch.entries()) {
      entry.reserved = isReserved ? (sizes[index] ?? 0) : 0;
    }
    return isReserved;
  }

  /** Before its request, so that no later page repeats it. */
  #mark(entry: QueuedEvent, owner: string): void {
    entry.isSent = true;
    this.#change(entry, { owner, isHandedOver: true });
  }

  #answered(entry: QueuedEvent, answer: Answer): void {
    const { status } = answer;
    this.#ports.budget.giveBack(entry.reserved);
    entry.reserved = 0;
    if (status > 0) {
      this.#unanswered = 0;
      this.#isHintWrong ||= !this.#ports.isOnline();
    }
    // Erased, or taken over by another tab.
    if (!this.entries.includes(entry)) {
      return;
    }
    const { isExit } = entry;
    entry.isSent = false;
    entry.isExit = false;
    if (status === 200 || isRejection(status)) {
      this.#failures = 0;
      this.#end(entry, status === 200 ? 'delivered' : 'rejected');
    } else if (this.#isGivenUp(entry.record, status, isExit)) {
      this.#end(entry, 'unconfirmed');
    } else if (this.#isOurs(entry, [this.owner, NOBODY])) {
      this.#keep(entry, answer, isExit);
    }
  }

  /** Keeps an event that was not taken, for a later try. */
  #keep(entry: QueuedEvent, answer: Answer, wasExit: boolean): void {
    const { status } = answer;
    const wasOffline = !status && !this.#isHintWrong && !this.#ports.isOnline();
    const now = this.#ports.now();
    if (isFinal(status)) {
      if (!this.isPaused) {
        this.#ports.emit('paused', { status });
      }
      this.isPaused = true;
    } else if (status > 0 || !wasExit) {
      // What fails because its page ends proves nothing about the service.
      this.#wait(entry, answer, wasOffline);
    }
    this.#change(entry, {
      owner: this.isLeft ? NOBODY : this.owner,
      isHandedOver: undefined,
      tries: (entry.record.tries ?? 0) + (wasOffline ? 0 : triesOf(status)),
      waitUntil: status === 429 ? this.#pausedUntil : undefined,
    });
    if (isAmbiguous(status) && (entry.record.tries ?? 0) === MAX_TRIES - 1) {
      // Its last try is not spent on an outage of a few seconds.
      entry.until = now + MAX_WAIT_MS;
    }
  }

  #wait(entry: QueuedEvent, answer: Answer, wasOffline: boolean): void {
    const { status } = answer;
    const now = this.#ports.now();
    const delayMs = this.#delayMs ?? this.#delayAfter(answer, wasOffline);
    this.#delayMs = delayMs;
    if (status === 429) {
      this.pauseUntil(now + delayMs);
      this.#ports.tell(this.told);
    } else {
      this.#retryAt = now + delayMs;
      // It may be this event alone that fails: then the others go first.
      entry.failures += wasOffline ? 0 : 1;
      if (entry.failures >= MAX_IN_FRONT) {
        // Without jitter: what fails together is tried again together, in its order.
        entry.until = now + Math.min(MAX_WAIT_MS, 2 ** entry.failures * 1000);
      }
    }
    const { id, event, email, data } = entry.record;
    this.#ports.emit('retry', { id, event, email, data, status, delayMs });
  }

  /** Counts a failure; returns the milliseconds until the next request. */
  #delayAfter({ status, retryAfter }: Answer, wasOffline: boolean): number {
    const now = this.#ports.now();
    const delayMs = delayOf(`${retryAfter}`, this.#failures++, now);
    if (wasOffline) {
      this.#offlineSince = now;
      return OFFLINE_TRY_MS;
    }
    if (status > 0 || ++this.#unanswered < 2) {
      return delayMs;
    }
    if (this.#unanswered === 2) {
      this.#ports.emit('blocked', { delayMs: MAX_WAIT_MS });
    }
    return MAX_WAIT_MS;
  }

  /** Where the service may have the event: is another try a repeat too many? */
  #isGivenUp({ tries = 0 }: EventRecord, status: number, isExit: boolean): boolean {
    const { delivery, retryAmbiguous } = this.#options;
    if (delivery === 'no-loss' || !isAmbiguous(status)) {
      return false;
    }
    const isLastTry = tries + triesOf(status) >= MAX_TRIES;
    return isLastTry || !retryAmbiguous || status < 0 || (!status && isExit);
  }

  /**
   * Reads the stored copy: it is the event's owner that counts, whatever this tab believes. An event that
   * another tab has, or that is gone, is forgotten.
   */
  #isOurs(entry: QueuedEvent, owners: readonly string[]): boolean {
    const { store } = this.#ports;
    if (this.#claims.has(entry.record.id)) {
      return false; // not certain yet
    }
    const copy = entry.isStored ? store.get(entry.record.id) : entry.record;
    if (entry.isStored && !store.keepsEvents) {
      this.#moveToMemory();
      return this.entries.includes(entry);
    }
    if (copy && owners.includes(copy.owner)) {
      return true;
    }
    if (copy?.owner === NOBODY) {
      // Taken over while this tab was frozen, and released again: to be claimed like any other.
      entry.record = { ...entry.record, owner: NOBODY };
    } else {
      this.#forget(entry);
      this.#ports.ended(entry, copy ? 'elsewhere' : entry.isSent ? 'unconfirmed' : 'cleared');
    }
    return false;
  }

  #change(entry: QueuedEvent, changes: Partial<EventRecord>): void {
    entry.record = { ...entry.record, ...changes };
    if (entry.isStored) {
      this.#save(entry);
    }
  }

  #save(entry: QueuedEvent): void {
    const isWritten = this.#ports.store.set(entry.record);
    entry.isStored ||= isWritten;
    if (!isWritten) {
      this.#moveToMemory();
    }
  }

  /** The store has failed: what it still has of this tab must not be sent by others as well. */
  #moveToMemory(): void {
    const { store } = this.#ports;
    for (const entry of this.entries.filter(({ isStored }) => isStored)) {
      const owner = store.get(entry.record.id)?.owner ?? NOBODY;
      entry.isStored = false;
      if (owner === NOBODY || owner === this.owner) {
        store.remove(entry.record.id);
      } else {
        this.#forget(entry);
        this.#ports.ended(entry, 'elsewhere');
      }
    }
  }

  #end(entry: QueuedEvent, end: End): void {
    this.#forget(entry);
    if (entry.isStored) {
      this.#ports.store.remove(entry.record.id);
    }
    this.#ports.ended(entry, end);
  }

  #forget(gone: QueuedEvent): void {
    this.entries = this.entries.filter((entry) => entry !== gone);
  }
}

const entryOf = (record: EventRecord, isStored: boolean): QueuedEvent => ({
  record,
  isStored,
  isSent: false,
  isExit: false,
  failures: 0,
  until: 0,
  reserved: 0,
});

/** True where the service has said no for good: 4xx but 401, 403, 404, 408 and 429. */
export const isRejection = (status: number): boolean =>
  status > 399 && status < 500 && ![401, 403, 404, 408, 429].includes(status);

/** True where the key or the address is wrong: 401, 403, 404 and redirects. */
export const isFinal = (status: number): boolean =>
  (status > 299 && status < 400) || [401, 403, 404].includes(status);

/** True where the service may have taken the event: no answer, 408, and 5xx other than 503. */
const isAmbiguous = (status: number): boolean =>
  status < 1 || status === 408 || (status > 499 && status !== 503);

/**
 * How many tries an answer stands for. After a 408 on a connection that was used before, Chromium and
 * OkHttp (React Native) send the request a second time by themselves.
 */
const triesOf = (status: number): number => (status === 408 ? 2 : isAmbiguous(status) ? 1 : 0);

/** Milliseconds until the next try: `Retry-After` when readable, else doubling; with jitter. */
export const delayOf = (retryAfter: string, failures: number, now: number): number => {
  const asked = +retryAfter * 1000 || Date.parse(retryAfter) - now;
  const jitter = 1 + Math.random();
  const doubling = 2 ** failures * 500 * jitter;
  return Math.min(MAX_WAIT_MS, asked > doubling ? asked + 500 * jitter : doubling);
};
