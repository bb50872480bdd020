import {
  type Decision,
  type Decisions,
  addDecision,
  hasNewer,
  isDenied,
  merge,
  UNDECIDED,
} from './consent.js';
import type { DropReason, EventData, TrackerNotices } from './types.js';

// The life of an event, and the rules by which tabs share the stored events. The queue uses no timer, no
// storage and no network itself: it reaches them through `Ports`. The page connects the ports to the browser;
// a model test connects them to a simulated world.

/** An event as it is stored, under its id. */
export interface EventRecord {
  readonly id: string;
  /** The wall-clock time of the `track()` call, in milliseconds since 1970. */
  readonly at: number;
  /** The tab that may send the event; {@link NOBODY} after that tab's page was left. */
  readonly owner: string;
  /** Written to the store before the request is sent: from then on the service may have the event. */
  readonly isHandedOver?: boolean | undefined;
  /** How many tries of the event ended without showing whether the service took it. */
  readonly tries?: number | undefined;
  /** The end of the pause, if the service answered this event with a 429. In milliseconds since 1970. */
  readonly waitUntil?: number | undefined;
  readonly event: string;
  readonly email?: string | undefined;
  readonly data?: EventData | undefined;
}

/** The owner of an event whose page was left: any tab may take the event over. */
export const NOBODY = '';

/** An event of this tab, with the tab's own state of it. */
export interface QueuedEvent {
  record: EventRecord;
  /** The store holds the event, so other tabs may take it over or erase it. */
  isStored: boolean;
  /** The request of the event is in flight. */
  isSent: boolean;
  /** The request was open when the page was left: if it fails, that proves nothing about the service. */
  isExit: boolean;
  /** Failed requests of this event in this page; a 429 does not count. */
  failures: number;
  /** The next try is not before this time, in milliseconds since 1970. */
  until: number;
  /** The bytes that this event has reserved in the page's {@link KeepaliveBudget}. */
  reserved: number;
}

/**
 * The response to one event: status 0 when the request failed without a response, -1 when none came within
 * the time limit.
 */
export interface EventAnswer {
  readonly status: number;
  readonly retryAfter?: string | null | undefined;
}

/** How an event ends for this tab; `elsewhere`: another tab owns it now. */
export type EventEnd = 'delivered' | 'unconfirmed' | 'elsewhere' | DropReason;

/** The state that a tab sends to the other tabs. */
export interface TabState {
  readonly decisions: Decisions;
  /** All tabs wait until this time after a 429, in milliseconds since 1970. */
  readonly pausedUntil: number;
  /** Set only in the message that `grant()` sends. It ends the consent state `pending` in the other open tabs. */
  readonly isGrant?: boolean;
}

/** The store in which events and decisions outlive a page. Its methods never throw. */
export interface EventStore {
  /** False if events are kept in memory only: by configuration, or after the first failure of the store. */
  readonly keepsEvents: boolean;
  readonly get: (id: string) => EventRecord | undefined;
  /** Returns false if the record was not written. */
  readonly set: (record: EventRecord) => boolean;
  readonly remove: (id: string) => void;
  /** The total length of all events in characters, as this tab last read them. */
  readonly length: () => number;
  /** The events of all tabs. */
  readonly all: () => readonly EventRecord[];
  /** Removes all keys of this project except the decisions; returns the number of removed keys. */
  readonly erase: () => number;
  readonly decisions: () => Decisions;
  readonly saveDecisions: (decisions: Decisions) => void;
}

/**
 * The bytes of `keepalive` requests in flight, which the browser limits for the whole page. All trackers of
 * the page share this budget.
 */
export interface KeepaliveBudget {
  /** Reserves bytes; returns false if fewer are left. */
  readonly take: (bytes: number) => boolean;
  readonly giveBack: (bytes: number) => void;
}

/**
 * The functions through which a queue reaches the outside. None of them calls back into the queue before the
 * current step has ended.
 */
export interface Ports {
  readonly store: EventStore;
  readonly budget: KeepaliveBudget;
  readonly now: () => number;
  /** Only a hint: browsers report "offline" for some connections that work. */
  readonly isOnline: () => boolean;
  readonly bytesOf: (record: EventRecord) => number;
  /** Sends one request, then calls `handleAnswers()` with the responses. */
  readonly send: (batch: readonly QueuedEvent[], isKeptAlive: boolean) => void;
  /** True while a request of a disposed tracker of this page with this event is in flight. */
  readonly isOpen: (id: string) => boolean;
  readonly broadcast: (tabState: TabState) => void;
  readonly onEnd: (entry: QueuedEvent, end: EventEnd) => void;
  readonly emit: <Notice extends 'retry' | 'paused' | 'blocked'>(
    notice: Notice,
    detail: TrackerNotices[Notice],
  ) => void;
}

/** The options of a queue. Times are in milliseconds. */
export interface TrackerQueueOptions {
  /** The name of this tab. */
  readonly owner: string;
  readonly delivery: 'no-duplicates' | 'no-loss';
  readonly retryAmbiguous: boolean;
  readonly maxAgeMs: number;
  /** The maximum number of events in one request: 1, or more for a proxy. */
  readonly maxBatch: number;
  readonly limit: { readonly perSecond: number; readonly burst: number };
}

/**
 * The upper limit of every wait, so that a wrong clock or a distant `Retry-After` cannot stop the queue for
 * good.
 */
export const MAX_WAIT_MS = 300_000;
/** How many tries of one event may end without showing whether the service took it. */
const MAX_TRIES = 3;
/** An event that failed this often no longer holds up the events behind it. */
const MAX_FAILURES_IN_ORDER = 3;
/** The maximum number of events that are sent when the page ends. */
const MAX_AT_EXIT = 100;
/** The maximum size in bytes of a request with several events. */
const MAX_BATCH_BYTES = 60_000;
/** The interval between requests while the browser reports that it is offline. */
const OFFLINE_TRY_MS = 60_000;

/**
 * The events of one tab: decides which are sent, when, and how each of them ends.
 *
 * An event's record in the store shows what happened to it, also to a tab that finds it later:
 *
 * | State | `owner` | `isHandedOver` |
 * | --- | --- | --- |
 * | waits in its tab | the tab | not set |
 * | request in flight | the tab | `true`, written before the request |
 * | page left, was not sent | `NOBODY` | not set |
 * | page left, request in flight | `NOBODY` | `true` |
 * | claimed by another tab | the claiming tab | unchanged until `adopt()` |
 * | ended | the record is removed | |
 */
export class Queue {
  entries: readonly QueuedEvent[] = [];
  /** The name of this tab. */
  readonly owner: string;
  /** The contact of the events tracked from now on. */
  email: string | undefined;
  /** The visitor's decisions in all tabs, as far as this tab knows them. */
  decisions = UNDECIDED;
  /** The page gave consent and is visible. A denial in `decisions` still overrules it. */
  isStarted = false;
  isLeft = false;
  /** The page is about to be replaced by another page of the same site. */
  isWithinSite = false;
  /** Set by `pause()`, and by a response that shows a wrong key or address: see {@link isSetupError}. */
  isPaused = false;

  /** The argument of the last `leave()`. */
  #isPageOver = false;
  readonly #ports: Ports;
  readonly #options: TrackerQueueOptions;
  /** When the contact was set; a later erasure removes the contact too. */
  #identifiedAt = 0;
  #hasDecided = false;
  /** The events that this tab has claimed, and has not adopted yet: another tab may overwrite the claim. */
  #claims: ReadonlySet<string> = new Set();
  /** No request is sent before these times: after a failure, and after a 429. */
  #retryAt = 0;
  #pausedUntil = 0;
  /** The number of failures in a row, and of failures in a row without a response. */
  #failures = 0;
  #unanswered = 0;
  /**
   * The delay after the request whose responses are being handled; `undefined` until one of them is a failure.
   * The events of one request that failed share one delay and count as one failure.
   */
  #delayMs: number | undefined;
  /**
   * When the browser began to report that it is offline. Once a response has arrived all the same, the hint
   * is ignored for the rest of the page.
   */
  #offlineSince: number | undefined;
  #isHintWrong = false;
  #tokens: number;
  #tokensAt = 0;

  constructor(ports: Ports, options: TrackerQueueOptions) {
    this.#ports = ports;
    this.#options = options;
    this.owner = options.owner;
    this.#tokens = options.limit.burst;
  }

  /** True if events may be stored and sent. */
  get isAllowed(): boolean {
    return this.isStarted && !isDenied(this.decisions);
  }

  /** True while a request is in flight whose response may end events of this queue. */
  get hasOpenRequest(): boolean {
    return this.entries.some(({ isSent }) => isSent);
  }

  /** True while events are being claimed: they can be sent shortly. */
  get isTakingOver(): boolean {
    return this.#claims.size > 0;
  }

  /** Adds an event. If the page is being left, the event is sent at once. */
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

  /** Called when consent is given and the page is visible: stores the events that were kept in memory. */
  start(): void {
    this.isStarted = true;
    this.syncDecisions();
    if (this.isAllowed) {
      this.entries.filter(({ isStored }) => !isStored).forEach((entry) => this.#save(entry));
    }
  }

  /**
   * Sends all events that may be sent now, with one request at a time per contact, so that the events of a
   * contact arrive in order.
   * Returns the time of the next `pump()`, in milliseconds since 1970. `Infinity`: not before a new event, a
   * response or a decision.
   */
  pump(): number {
    this.syncDecisions();
    this.expire();
    if (!this.isAllowed || this.isLeft || this.isPaused) {
      return Infinity;
    }
    const contactsInFlight = new Set(
      this.entries.flatMap(({ isSent, isExit, record }) => (isSent && !isExit ? record.email : [])),
    );
    while (this.#startsAt() <= this.#ports.now()) {
      const batch = this.#nextBatch(contactsInFlight);
      if (!batch.length) {
        break;
      }
      this.#tokens--;
      for (const entry of batch) {
        contactsInFlight.add(entry.record.email);
        this.#mark(entry, this.owner);
      }
      // Other scripts may have used up the browser's keepalive limit, which looks like a lost response. After
      // such a failure, send without `keepalive`.
      const isKeptAlive = this.#unanswered === 0 && this.#reserve(batch);
      this.#ports.send(batch, isKeptAlive);
    }
    const startsAt = this.#startsAt();
    const waiting = this.entries.filter((entry) => this.#isWaiting(entry, contactsInFlight));
    return Math.min(...waiting.map(({ until }) => Math.max(until, startsAt)));
  }

  /**
   * Ends events or keeps them, according to the responses of one request. A request counts as one failure,
   * whatever its number of events.
   */
  handleAnswers(batch: readonly QueuedEvent[], answerTo: (index: number) => EventAnswer): void {
    this.#delayMs = undefined;
    // Another tab may have erased an event of this batch. Read the decisions first, so that the response does
    // not store the event again.
    this.syncDecisions();
    batch.forEach((entry, index) => this.#handleAnswer(entry, answerTo(index)));
  }

  /**
   * Called when the page or the tracker ends. First writes to the store which events are sent now, and releases
   * all others, so that any tab may claim them. Then sends the events, as far as the keepalive budget allows. If
   * the service is unreachable or a pause is running, stored events stay in the store.
   *
   * @param isPageOver True if the page ends or is hidden in the back/forward cache: its responses may never
   *   arrive, so any tab may end the events in flight as unconfirmed. False if only this tracker is disposed: the
   *   page still receives the responses, and they decide.
   */
  leave(isPageOver = true): void {
    this.syncDecisions();
    this.isLeft = true;
    this.#isPageOver = isPageOver;
    const sentOwner = isPageOver ? NOBODY : this.owner;
    const isReachable = !this.#unanswered && this.#isOver(this.#waitsUntil());
    const batch: QueuedEvent[] = [];
    for (const entry of this.entries) {
      if (!this.#checkOwner(entry, [this.owner])) {
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

  /**
   * The page is shown again, from the back/forward cache. Stored events that it released must be claimed like
   * those of another tab.
   */
  comeBack(): void {
    this.isLeft = false;
    this.isWithinSite = false;
    for (const entry of this.entries) {
      if (!entry.isStored) {
        entry.record = { ...entry.record, owner: this.owner };
      }
    }
    this.syncDecisions();
  }

  /** Ends the wait after a failure, but not the pause after a 429, which the service requested. */
  retryNow(): void {
    this.#retryAt = 0;
    this.#offlineSince = this.#ports.now() - OFFLINE_TRY_MS;
  }

  /** Sets the contact, also of the waiting events that were tracked without one. */
  identify(email: string | undefined): void {
    this.syncDecisions();
    this.email = email;
    this.#identifiedAt = Math.max(this.#ports.now(), this.decisions.erasedAt + 1);
    for (const entry of this.entries) {
      if (!entry.record.email && this.#checkOwner(entry, [this.owner])) {
        this.#change(entry, { email });
      }
    }
  }

  /** Applies a decision for all tabs: first in this queue, then in the store, then in the other tabs. */
  decide(decision: Decision): void {
    const { store, now } = this.#ports;
    // The decision must be later than every known event, even if the clock was set back in the meantime.
    const times = [...this.entries.map(({ record }) => record), ...store.all()].map(({ at }) => at);
    const at = Math.max(now(), this.#identifiedAt, ...times);
    this.applyDecisions(addDecision(this.decisions, decision, at));
    const stored = store.decisions();
    if (hasNewer(stored, this.decisions)) {
      this.applyDecisions(addDecision(merge(this.decisions, stored), decision, at));
    }
    const erased = decision === 'granted' ? 0 : store.erase();
    // Every decision is written, except a `reset()` before consent that removed no event. An erasure that removed
    // events must be written, because a page that is being left may store them again.
    if (decision !== 'erased' || this.isStarted || erased) {
      this.#hasDecided = true;
      store.saveDecisions(this.decisions);
    }
    this.#ports.broadcast(
      decision === 'granted' ? { ...this.tabState, isGrant: true } : this.tabState,
    );
  }

  /**
   * Reads the decisions of all tabs from the store, and writes them back if another script has cleared them.
   */
  syncDecisions(): void {
    const { store } = this.#ports;
    const stored = store.decisions();
    this.applyDecisions(stored);
    if (hasNewer(this.decisions, stored) && (this.isStarted || this.#hasDecided)) {
      store.saveDecisions(this.decisions);
    }
  }

  /**
   * Applies decisions from the store or from another tab: drops the erased events, and the contact if it is
   * older than the erasure.
   */
  applyDecisions(received: Decisions): void {
    const before = this.decisions;
    if (!hasNewer(received, before)) {
      return;
    }
    this.decisions = merge(before, received);
    if (this.decisions.erasedAt >= this.#identifiedAt) {
      this.email = undefined;
    }
    const reason = received.deniedAt > before.deniedAt ? 'denied' : 'reset';
    for (const entry of this.entries) {
      if (!this.#isAlive(entry.record)) {
        this.#end(entry, reason);
      }
    }
  }

  /**
   * Drops the events older than `maxAge`. Ignores times before November 2023: those come from a clock that
   * was never set.
   */
  expire(): void {
    const now = this.#ports.now();
    for (const entry of this.entries) {
      const { at } = entry.record;
      if (!entry.isSent && at > 17e11 && now - at > this.#options.maxAgeMs) {
        this.#end(entry, 'expired');
      }
    }
  }

  /** The state that other tabs must know. */
  get tabState(): TabState {
    return { decisions: this.decisions, pausedUntil: this.#pausedUntil };
  }

  /** Takes over a pause that the service requested from another tab with a 429. */
  pauseUntil(time: number): void {
    const isLater = time > this.#pausedUntil || this.#isOver(this.#pausedUntil);
    if (isLater && !this.#isOver(time)) {
      this.#pausedUntil = time;
    }
  }

  /**
   * Reads all stored events: applies the pauses they carry, and removes erased events. Returns the remaining
   * events.
   */
  readAll(): readonly EventRecord[] {
    const { store } = this.#ports;
    this.syncDecisions();
    const records = store.all().filter((record) => {
      const isAlive = this.#keepIfAlive(record);
      if (isAlive) {
        this.pauseUntil(record.waitUntil ?? 0);
      }
      return isAlive;
    });
    this.#forgetTaken(records);
    return records;
  }

  /**
   * First step of a take-over: writes this tab as the owner of events whose owner has released them or is
   * gone. Two tabs may do so at the same time, and the last write wins. `adopt()` is the second step.
   */
  claim(isOrphan: (record: EventRecord) => boolean): void {
    if (!this.isAllowed || this.isLeft) {
      return;
    }
    const claims = new Set(this.#claims);
    for (const record of this.readAll()) {
      // Skip events with a request in flight in this page, whichever tracker sent it: its response decides.
      const isSent = this.entries.some((entry) => entry.record.id === record.id && entry.isSent);
      if (isOrphan(record) && !isSent && !this.#ports.isOpen(record.id)) {
        if (this.#ports.store.set({ ...record, owner: this.owner })) {
          claims.add(record.id);
        }
      }
    }
    this.#claims = claims;
  }

  /**
   * Second step of a take-over: adopts the claimed events that still carry this tab as their owner. The
   * others were overwritten by another tab.
   */
  adopt(): void {
    this.syncDecisions();
    for (const id of this.#claims) {
      const record = this.#ports.store.get(id);
      if (!record || record.owner !== this.owner || !this.#keepIfAlive(record)) {
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

  /** Forgets the events that this page released and that another tab has taken over, or has sent. */
  #forgetTaken(records: readonly EventRecord[]): void {
    const owners = new Map(records.map(({ id, owner }) => [id, owner]));
    for (const entry of this.entries) {
      const isReleased = entry.isStored && !entry.isSent && entry.record.owner === NOBODY;
      const owner = owners.get(entry.record.id);
      if (isReleased && owner !== NOBODY && owner !== this.owner) {
        this.#forget(entry);
        this.#ports.onEnd(entry, 'elsewhere');
      }
    }
  }

  /** Releases the claims of a take-over that the end of the page interrupts. */
  #releaseClaims(): void {
    const { store } = this.#ports;
    for (const id of this.#claims) {
      const record = store.get(id);
      if (record?.owner === this.owner && this.#keepIfAlive(record)) {
        store.set({ ...record, owner: NOBODY });
      }
    }
    this.#claims = new Set();
  }

  #isAlive({ at }: EventRecord): boolean {
    return at > this.decisions.erasedAt && !isDenied(this.decisions);
  }

  /**
   * Checks a stored event against the decisions, and removes it if it was erased: a tab may have written it
   * while another tab erased it.
   */
  #keepIfAlive(record: EventRecord): boolean {
    const isAlive = this.#isAlive(record);
    if (!isAlive) {
      this.#ports.store.remove(record.id);
    }
    return isAlive;
  }

  /** The events of the next request: only those of contacts without a request in flight. */
  #nextBatch(contactsInFlight: ReadonlySet<string | undefined>): QueuedEvent[] {
    const batch: QueuedEvent[] = [];
    let size = 0;
    for (const entry of this.entries) {
      if (!this.#isWaiting(entry, contactsInFlight) || !this.#isOver(entry.until)) {
        continue;
      }
      size += this.#ports.bytesOf(entry.record);
      if (batch.length && size > MAX_BATCH_BYTES) {
        break;
      }
      if (this.#checkOwner(entry, [this.owner])) {
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

  /** True if the event is ready to be sent, apart from its waiting times. */
  #isWaiting(
    { isSent, record }: QueuedEvent,
    contactsInFlight: ReadonlySet<string | undefined>,
  ): boolean {
    const isOwn = record.owner !== NOBODY && !this.#claims.has(record.id);
    return isOwn && !isSent && !!record.email && !contactsInFlight.has(record.email);
  }

  #isForExit({ isSent, isStored, record, until }: QueuedEvent, isReachable: boolean): boolean {
    // With `no-loss`, the next page of the site sends every stored event again, so this page does not send it.
    const isForNextPage = this.isWithinSite && this.#options.delivery === 'no-loss';
    // Events in memory end with the page and have no other chance: they are sent in any case.
    const isKept = isStored && (!isReachable || isForNextPage);
    const isReady = this.isAllowed && !this.isPaused && !isSent && this.#isOver(until);
    return isReady && !!record.email && !isKept;
  }

  /** When the next request may be made. */
  #startsAt(): number {
    return Math.max(this.#waitsUntil(), this.#tokenAt());
  }

  /** When all waits of the queue are over; 0 if there is none. */
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

  /**
   * True once the wait has ended. A remaining wait of more than the maximum shows that the clock has been set
   * back; it counts as over.
   */
  #isOver(until: number): boolean {
    const now = this.#ports.now();
    return until <= now || until > now + MAX_WAIT_MS;
  }

  /** When the rate limit of this tab allows the next request. */
  #tokenAt(): number {
    const { perSecond, burst } = this.#options.limit;
    const now = this.#ports.now();
    const passedMs = Math.max(0, now - this.#tokensAt);
    this.#tokens = Math.min(burst, this.#tokens + (passedMs * perSecond) / 1000);
    this.#tokensAt = now;
    if (this.#tokens >= 1) {
      return now;
    }
    return burst < 1 ? Infinity : now + Math.ceil(((1 - this.#tokens) * 1000) / perSecond);
  }

  #reserve(batch: readonly QueuedEvent[]): boolean {
    const sizes = batch.map(({ record }) => this.#ports.bytesOf(record));
    const isReserved = this.#ports.budget.take(sizes.reduce((sum, size) => sum + size, 0));
    for (const [index, entry] of batch.entries()) {
      entry.reserved = isReserved ? (sizes[index] ?? 0) : 0;
    }
    return isReserved;
  }

  /** Marks an event in the store before its request is sent, so that no later page sends it again. */
  #mark(entry: QueuedEvent, owner: string): void {
    entry.isSent = true;
    this.#change(entry, { owner, isHandedOver: true });
  }

  #handleAnswer(entry: QueuedEvent, answer: EventAnswer): void {
    const { status } = answer;
    this.#ports.budget.giveBack(entry.reserved);
    entry.reserved = 0;
    if (status > 0) {
      this.#unanswered = 0;
      this.#isHintWrong ||= !this.#ports.isOnline();
    }
    // The event was erased, or another tab has taken it over.
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
    } else if (this.#checkOwner(entry, [this.owner, NOBODY])) {
      this.#keep(entry, answer, isExit);
    }
  }

  /** Keeps an event that the service did not take, for a later try. */
  #keep(entry: QueuedEvent, answer: EventAnswer, wasExit: boolean): void {
    const { status } = answer;
    const wasOffline = !status && !this.#isHintWrong && !this.#ports.isOnline();
    const now = this.#ports.now();
    if (isSetupError(status)) {
      if (!this.isPaused) {
        this.#ports.emit('paused', { status });
      }
      this.isPaused = true;
    } else if (status > 0 || !wasExit) {
      // A request that fails because its page ends proves nothing about the service.
      this.#wait(entry, answer, wasOffline);
    }
    this.#change(entry, {
      owner: this.isLeft ? NOBODY : this.owner,
      isHandedOver: undefined,
      tries: (entry.record.tries ?? 0) + (wasOffline ? 0 : triesOf(status)),
      waitUntil: status === 429 ? this.#pausedUntil : undefined,
    });
    if (isAmbiguous(status) && (entry.record.tries ?? 0) === MAX_TRIES - 1) {
      // Delay the last try, so that an outage of a few seconds does not use it up.
      entry.until = now + MAX_WAIT_MS;
    }
  }

  #wait(entry: QueuedEvent, answer: EventAnswer, wasOffline: boolean): void {
    const { status } = answer;
    const now = this.#ports.now();
    const delayMs = this.#delayMs ?? this.#delayAfter(answer, wasOffline);
    this.#delayMs = delayMs;
    if (status === 429) {
      this.pauseUntil(now + delayMs);
      this.#ports.broadcast(this.tabState);
    } else {
      this.#retryAt = now + delayMs;
      // Perhaps only this event fails: let the other events go first.
      entry.failures += wasOffline ? 0 : 1;
      if (entry.failures >= MAX_FAILURES_IN_ORDER) {
        // No jitter: events that fail together are retried together, in their order.
        entry.until = now + Math.min(MAX_WAIT_MS, 2 ** entry.failures * 1000);
      }
    }
    const { id, event, email, data } = entry.record;
    this.#ports.emit('retry', { id, event, email, data, status, delayMs });
  }

  /** Counts a failure; returns the delay until the next request in milliseconds. */
  #delayAfter({ status, retryAfter }: EventAnswer, wasOffline: boolean): number {
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

  /** True if the event ends as unconfirmed: the service may have it, and no further try is allowed. */
  #isGivenUp({ tries = 0 }: EventRecord, status: number, isExit: boolean): boolean {
    const { delivery, retryAmbiguous } = this.#options;
    if (delivery === 'no-loss' || !isAmbiguous(status)) {
      return false;
    }
    const isLastTry = tries + triesOf(status) >= MAX_TRIES;
    return isLastTry || !retryAmbiguous || status < 0 || (!status && isExit);
  }

  /**
   * True if one of `owners` owns the event. The stored copy decides, not the memory of this tab. An event
   * that another tab owns, or that is gone from the store, is removed from this queue.
   */
  #checkOwner(entry: QueuedEvent, owners: readonly string[]): boolean {
    const { store } = this.#ports;
    if (this.#claims.has(entry.record.id)) {
      return false; // claimed, not adopted yet
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
      // Another tab took the event over while this tab was frozen, and released it again. It must be claimed
      // like any other released event.
      entry.record = { ...entry.record, owner: NOBODY };
    } else {
      this.#forget(entry);
      this.#ports.onEnd(entry, copy ? 'elsewhere' : entry.isSent ? 'unconfirmed' : 'cleared');
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

  /**
   * The store has failed. Removes this tab's events from it and keeps them in memory, so that no other tab
   * sends them too.
   */
  #moveToMemory(): void {
    const { store } = this.#ports;
    for (const entry of this.entries.filter(({ isStored }) => isStored)) {
      const owner = store.get(entry.record.id)?.owner ?? NOBODY;
      entry.isStored = false;
      if (owner === NOBODY || owner === this.owner) {
        store.remove(entry.record.id);
      } else {
        this.#forget(entry);
        this.#ports.onEnd(entry, 'elsewhere');
      }
    }
  }

  #end(entry: QueuedEvent, end: EventEnd): void {
    this.#forget(entry);
    if (entry.isStored) {
      this.#ports.store.remove(entry.record.id);
    }
    this.#ports.onEnd(entry, end);
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

/** True if the service has rejected the event for good: any 4xx except 401, 403, 404, 408 and 429. */
export const isRejection = (status: number): boolean =>
  status > 399 && status < 500 && ![401, 403, 404, 408, 429].includes(status);

/** True if the key or the address is wrong: 401, 403, 404 and redirects. */
export const isSetupError = (status: number): boolean =>
  (status > 299 && status < 400) || [401, 403, 404].includes(status);

/** True if the service may have taken the event: no response, 408, and any 5xx except 503. */
const isAmbiguous = (status: number): boolean =>
  status < 1 || status === 408 || (status > 499 && status !== 503);

/**
 * The number of tries that a response stands for. After a 408 on a reused connection, Chromium and OkHttp
 * (React Native) repeat the request themselves.
 */
const triesOf = (status: number): number => (status === 408 ? 2 : isAmbiguous(status) ? 1 : 0);

/**
 * The delay until the next try in milliseconds: `Retry-After` if it is readable and longer, otherwise
 * doubling from 500 ms; both with jitter.
 */
export const delayOf = (retryAfter: string, failures: number, now: number): number => {
  const requestedMs = +retryAfter * 1000 || Date.parse(retryAfter) - now;
  const jitter = 1 + Math.random();
  const doubling = 2 ** failures * 500 * jitter;
  return Math.min(MAX_WAIT_MS, requestedMs > doubling ? requestedMs + 500 * jitter : doubling);
};
