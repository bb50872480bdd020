import { type Decision, isDenied } from './consent.js';
import { copyOf, snapshot } from './data.js';
import { createNotices } from './notices.js';
import { checkOptions, emailOf, newId, prefixOf } from './options.js';
import type { PageListener, TrackerEnvironment } from './page.js';
import {
  type EventEnd,
  type QueuedEvent,
  type EventRecord,
  isSetupError,
  isRejection,
  MAX_WAIT_MS,
  Queue,
  type EventStore,
} from './queue.js';
import {
  budgetOfPage,
  bytesOf,
  openRequestsOfPage,
  sendEvents,
  type TrackEndpoint,
  urlOf,
} from './request.js';
import { createStore } from './store.js';
import type { Tabs } from './tabs.js';
import type {
  DropReason,
  Outcome,
  PendingEvent,
  TrackedEvent,
  TrackerOptions,
  TrackerStats,
} from './types.js';

/** An `outcome` without a known end resolves to `queued` after this time. */
const MAX_OUTCOME_MS = 10_000;
/** The shortest delay of the queue's timer. */
const MIN_TIMER_MS = 50;

const STORE_FAILED =
  'The storage failed. What is not delivered when the page ends may be lost, and a decision forgotten.';

/** An event that waits for consent, with the arguments of its `track()` call. */
interface HeldEvent {
  readonly tracked: Tracked;
  readonly input: TimedEvent;
}

/** An event with the time at which it was tracked. */
type TimedEvent = PendingEvent & { readonly at: number };

/**
 * One tracker: takes events in, passes them to the queue, and reports their outcomes. None of its methods
 * throws.
 */
export class Core implements PageListener {
  readonly notices = createNotices();
  readonly counts: TrackerStats = {};
  readonly queue: Queue;
  readonly #options: TrackerOptions;
  readonly #environment: TrackerEnvironment;
  readonly #prefix: string;
  readonly #endpoint: TrackEndpoint;
  readonly #store: EventStore;
  readonly #tabs: Tabs;
  readonly #stop: () => void;
  /** The outcomes and the requests of the events that have not ended, by event id. */
  readonly #tracked = new Map<string, Tracked>();
  readonly #requests = new Map<string, AbortController>();
  /** By event id: fulfilled once the response to the event's request has been handled. */
  readonly #answered = new Map<string, Promise<void>>();
  /** Called after each change of the queue, while `flush()` waits. */
  readonly #onPump = new Set<() => void>();
  /** Events that wait in memory for consent. `beforeSend` has not been called with them yet. */
  #held: readonly HeldEvent[] = [];
  #consent: TrackerOptions['consent'];
  #isBegun = false;
  #isDisposed = false;
  /** When the queue can send its next request; `Infinity` if time alone does not help. */
  #nextAt = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(given: TrackerOptions, environment: TrackerEnvironment) {
    const options = checkOptions(given);
    const { proxy, publicKey, fetch, storage, limit } = options;
    this.#options = options;
    this.#environment = environment;
    this.#consent = options.consent;
    this.#prefix = prefixOf(options);
    // A proxy keeps the key: this page must not send one.
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#endpoint = { baseUrl, fetch, publicKey: proxy ? undefined : publicKey };
    const owner = newId(this.#prefix);
    this.#store = createStore({
      prefix: this.#prefix,
      open: environment.openStore,
      keepsEvents: storage !== 'memory' && !environment.memoryReason,
      onFailure: () => this.notices.warn(STORE_FAILED),
    });
    this.queue = this.#queueOf(owner, limit);
    this.#tabs = environment.createTabs({
      prefix: this.#prefix,
      queue: () => this.queue,
      onChange: () => this.pump(),
      onGrant: () => this.#onGrant(),
    });
    if (options.email !== undefined && options.email !== '') {
      this.identify(options.email);
    }
    if (environment.memoryReason) {
      this.notices.warnDeveloper(environment.memoryReason);
    }
    this.#stop = environment.observe(this.#prefix, this);
    this.#tabs.open();
    this.#begin();
  }

  get pending(): number {
    return this.queue.entries.length + this.#held.length;
  }

  track(event: unknown, data: unknown, email: unknown): TrackedEvent {
    const tracked = new Tracked(newId(this.#prefix));
    // as: plain JavaScript may pass anything; each field is checked before the event is sent
    const given = { id: tracked.id, event, email, data, at: Date.now() } as TimedEvent;
    const reason = this.#findDropReason();
    if (reason) {
      this.#drop(tracked, given, reason);
    } else {
      // Another tab may have granted consent since this page was loaded.
      this.#begin();
      this.#take(tracked, given);
    }
    // Send after the current task, so that all events it tracks share a batch.
    queueMicrotask(() => this.pump());
    return tracked;
  }

  identify(given: unknown): void {
    const email = emailOf(given);
    if (given && !email) {
      this.notices.warnDeveloper('identify() needs an email address: events wait for one.');
    }
    this.queue.identify(email);
    this.#held = this.#held.map(({ input, ...rest }) => {
      return { ...rest, input: { ...input, email: input.email ?? email } };
    });
    this.pump();
  }

  decide(decision: Decision): void {
    this.queue.decide(decision);
    if (decision === 'granted') {
      this.#consent = decision;
      this.#begin();
    } else {
      const reason = decision === 'denied' ? decision : 'reset';
      this.#dropHeld(reason, () => true);
      this.pump();
    }
  }

  /**
   * Sends the waiting events now; resolves to true if none is left. Stops before `timeoutMs` if no event can
   * be sent in the remaining time.
   */
  flush(timeoutMs: number): Promise<boolean> {
    const until = Date.now() + timeoutMs;
    this.retryNow();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#onPump.delete(endIfDone);
        resolve(!this.pending);
      };
      const endIfDone = () => {
        if (!this.pending || !this.#canSendUntil(until)) {
          done();
        }
      };
      const timer = setTimeout(done, timeoutMs);
      this.#onPump.add(endIfDone);
      endIfDone();
    });
  }

  #canSendUntil(time: number): boolean {
    return this.queue.hasOpenRequest || this.queue.isTakingOver || this.#nextAt <= time;
  }

  /** Sends the events that can be sent, and sets the timer for the next attempt. */
  pump(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const next = this.queue.pump();
    this.#nextAt = next;
    const { decisions } = this.queue;
    this.#dropHeld('denied', () => isDenied(decisions));
    this.#dropHeld('reset', ({ input }) => input.at <= decisions.erasedAt);
    if (next < Infinity) {
      const delayMs = Math.min(MAX_WAIT_MS, Math.max(MIN_TIMER_MS, next - now));
      this.#timer = setTimeout(() => this.pump(), delayMs);
    }
    this.#onPump.forEach((endIfDone) => endIfDone());
  }

  /** Ends this tracker. The responses to its requests in flight are still handled. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#isDisposed = true;
    this.queue.leave(false);
    this.#stopOnceAnswered();
  }

  leave(): void {
    clearTimeout(this.#timer);
    this.queue.leave();
    this.#tabs.close();
  }

  comeBack(): void {
    if (this.#isDisposed) {
      return;
    }
    this.#tabs.open();
    this.queue.comeBack();
    this.look();
  }

  retryNow(): void {
    this.queue.retryNow();
    this.pump();
  }

  look(): void {
    this.#tabs.look();
    this.pump();
  }

  noteExit(isWithinSite: boolean): void {
    this.queue.isWithinSite = isWithinSite;
  }

  #queueOf(owner: string, limit: TrackerOptions['limit']): Queue {
    const { delivery, retryAmbiguous, maxAge, proxy } = this.#options;
    return new Queue(
      {
        store: this.#store,
        budget: budgetOfPage(),
        now: () => Date.now(),
        isOnline: this.#environment.isOnline,
        bytesOf: (record) => bytesOf(this.#endpoint, record),
        send: (batch, isKeptAlive) => this.#send(batch, isKeptAlive),
        isOpen: (id) => openRequestsOfPage().has(id),
        broadcast: (state) => this.#tabs.broadcast(state),
        onEnd: (entry, end) => this.#handleEnd(entry.record, end),
        emit: this.notices.emit,
      },
      {
        owner,
        delivery: delivery ?? 'no-duplicates',
        retryAmbiguous: retryAmbiguous ?? true,
        maxAgeMs: maxAge ?? 86_400_000,
        // The batch limit of Postreel's own proxy handler.
        maxBatch: proxy ? 20 : 1,
        limit: { perSecond: limit?.perSecond ?? 5, burst: limit?.burst ?? 20 },
      },
    );
  }

  /**
   * Starts the queue if there is consent, as soon as the page is visible. If events are refused, erases the
   * stored ones.
   */
  #begin(): void {
    if (this.#findDropReason()) {
      // Also the events of a tab that ended before it learned of the denial.
      this.#store.erase();
    } else if (this.#consent !== 'pending' && !this.#isBegun) {
      this.#isBegun = true;
      this.#environment.whenShown(() => this.#start());
    }
  }

  #start(): void {
    // Consent may have been denied while the page was prerendered.
    if (this.#findDropReason()) {
      this.#isBegun = false;
      return;
    }
    this.queue.start();
    const held = this.#held;
    this.#held = [];
    // Read the store first: it holds the pauses that the service requested from earlier pages.
    this.#tabs.look();
    // A disposed tracker of this page may keep an event after its response: look for it then.
    openRequestsOfPage().forEach((answered) => void answered.then(() => this.#tabs.look()));
    held.forEach((each) => this.#admit(each));
    this.pump();
  }

  /** Another open tab has called `grant()`. The option `denied` still applies. */
  #onGrant(): void {
    if (this.#consent !== 'denied') {
      this.#consent = 'granted';
      this.#begin();
    }
  }

  /** The reason why no event may be taken in; `undefined` if events are allowed. */
  #findDropReason(): DropReason | undefined {
    if (this.#options.honorGpc !== false && hasPrivacyControl()) {
      return 'gpc';
    }
    this.queue.syncDecisions();
    return this.#consent === 'denied' || isDenied(this.queue.decisions) ? 'denied' : undefined;
  }

  /** Copies an event, and holds it in memory until there is consent. */
  #take(tracked: Tracked, given: TimedEvent): void {
    let input: TimedEvent;
    try {
      // as: a copy has the shape of what was copied
      input = { ...given, data: copyOf(given.data) as PendingEvent['data'] };
    } catch (error) {
      this.notices.warnDeveloper(`track() dropped "${given.event}": ${textOf(error)}.`);
      this.#drop(tracked, given, 'invalid');
      return;
    }
    if (this.queue.isStarted) {
      this.#admit({ tracked, input });
    } else if (this.pending >= (this.#options.maxQueue ?? 500)) {
      this.#drop(tracked, input, 'overflow');
    } else {
      const email = input.email ?? this.queue.email;
      this.#held = [...this.#held, { tracked, input: { ...input, email } }];
    }
  }

  /** Filters, checks and stores one event before it returns. */
  #admit({ tracked, input }: HeldEvent): void {
    const { id } = tracked;
    // Expired events make room for this one.
    this.queue.expire();
    const { maxQueue = 500, maxBytes = 262_144 } = this.#options;
    const item = this.#applyBeforeSend({ ...input, email: input.email ?? this.queue.email });
    if (!item) {
      this.#drop(tracked, input, 'filtered');
      return;
    }
    const content = this.#contentOf(item);
    if (!content) {
      this.#drop(tracked, input, 'invalid');
      return;
    }
    const { owner } = this.queue;
    const record = {
      id,
      at: Math.max(input.at, this.queue.decisions.erasedAt + 1),
      owner,
      ...content,
    };
    const length = this.#store.length() + JSON.stringify(record).length;
    if (this.pending >= maxQueue || length > maxBytes) {
      this.#drop(tracked, input, 'overflow');
      return;
    }
    this.#count('taken');
    this.#tracked.set(id, tracked);
    this.queue.take(record);
  }

  /**
   * The result of `beforeSend`; `null` if it drops the event, throws, or returns something that is not an
   * event.
   */
  #applyBeforeSend(input: PendingEvent): PendingEvent | null {
    const { beforeSend } = this.#options;
    if (!beforeSend) {
      return input;
    }
    try {
      // as: plain JavaScript may return anything
      const item = beforeSend(input) as PendingEvent | null | undefined;
      if (item === null || typeof item?.event === 'string') {
        return item;
      }
      this.notices.warnDeveloper(
        'beforeSend must return the event or null: the event was dropped.',
      );
    } catch (error) {
      // `beforeSend` may have been about to remove private data: drop the event instead of sending it
      // unfiltered.
      this.notices.warnDeveloper(`beforeSend threw (${textOf(error)}). The event was dropped.`);
    }
    return null;
  }

  /** The content of an event as it will be sent; `undefined` if the service could never accept it. */
  #contentOf({
    event,
    email,
    data,
  }: PendingEvent): Pick<EventRecord, 'event' | 'email' | 'data'> | undefined {
    const problem = problemOf(event, email, data);
    if (problem) {
      this.notices.warnDeveloper(`track() dropped an event: ${problem}.`);
      return undefined;
    }
    try {
      return { event, email: emailOf(email), data: snapshot(data) };
    } catch (error) {
      this.notices.warnDeveloper(`track() dropped "${event}": ${textOf(error)}.`);
      return undefined;
    }
  }

  #send(batch: readonly QueuedEvent[], isKeptAlive: boolean): void {
    const ids = batch.map(({ record }) => record.id);
    const answered = this.#request(batch, isKeptAlive).finally(() => {
      for (const id of ids) {
        this.#answered.delete(id);
        openRequestsOfPage().delete(id);
      }
      if (this.#isDisposed) {
        this.#stopOnceAnswered();
      }
    });
    ids.forEach((id) => this.#answered.set(id, answered));
  }

  async #request(batch: readonly QueuedEvent[], isKeptAlive: boolean): Promise<void> {
    const controller = new AbortController();
    const records = batch.map(({ record }) => record);
    records.forEach(({ id }) => this.#requests.set(id, controller));
    const answerTo = await sendEvents(this.#endpoint, {
      records,
      isKeptAlive,
      signal: controller.signal,
    });
    records.forEach(({ id }, index) => {
      this.#requests.delete(id);
      this.#explain(answerTo(index).status);
    });
    this.queue.handleAnswers(batch, answerTo);
    // Also ends a request that timed out and may never end.
    controller.abort();
    this.pump();
  }

  /** Warns the developer once about a response that only a change of code or configuration can fix. */
  #explain(status: number): void {
    if (isRejection(status)) {
      this.notices.warnDeveloper(
        `The service rejected an event with ${status}: check its contact and its data.`,
      );
    } else if (isSetupError(status)) {
      const what =
        status < 400
          ? 'answers with a redirect: set baseUrl to where it leads'
          : `answers ${status}: check the key and the address`;
      this.notices.warnDeveloper(`${urlOf(this.#endpoint)} ${what}. Events are kept.`);
    }
  }

  /**
   * Leaves the requests in flight to the page. Until their responses have been handled, this tracker still
   * answers other tabs and follows their decisions.
   */
  #stopOnceAnswered(): void {
    this.#answered.forEach((answered, id) => openRequestsOfPage().set(id, answered));
    if (!this.#answered.size) {
      this.#stop();
      this.#tabs.close();
    }
  }

  #handleEnd({ id, event, email, data }: EventRecord, end: EventEnd): void {
    const tracked = this.#tracked.get(id);
    const detail = { id, event, email, data };
    this.#tracked.delete(id);
    this.#abort(id);
    if (end === 'elsewhere') {
      tracked?.end({ status: 'queued' });
      return;
    }
    this.#count(end);
    if (end === 'delivered' || end === 'unconfirmed') {
      tracked?.end({ status: end });
      this.notices.emit(end, detail);
    } else {
      tracked?.end({ status: 'dropped', reason: end });
      this.notices.emit('dropped', { ...detail, reason: end });
    }
  }

  /** Aborts the request of an event, once all events of that request have ended. */
  #abort(id: string): void {
    const controller = this.#requests.get(id);
    this.#requests.delete(id);
    if (controller && ![...this.#requests.values()].includes(controller)) {
      controller.abort();
    }
  }

  #drop(tracked: Tracked, input: PendingEvent, reason: DropReason): void {
    this.#tracked.set(tracked.id, tracked);
    this.#handleEnd({ ...input, at: 0, owner: '' }, reason);
  }

  #dropHeld(reason: DropReason, isDropped: (held: HeldEvent) => boolean): void {
    const dropped = this.#held.filter(isDropped);
    this.#held = this.#held.filter((held) => !dropped.includes(held));
    dropped.forEach(({ tracked, input }) => this.#drop(tracked, input, reason));
  }

  #count(name: keyof TrackerStats): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

/** The return value of `track()`. Its promise is created on demand. */
class Tracked implements TrackedEvent {
  readonly id: string;
  #ended: Outcome | undefined;
  #promise: Promise<Outcome> | undefined;
  #resolve: ((outcome: Outcome) => void) | undefined;

  constructor(id: string) {
    this.id = id;
  }

  get outcome(): Promise<Outcome> {
    this.#promise ??= new Promise((resolve) => {
      if (this.#ended) {
        resolve(this.#ended);
        return;
      }
      // No caller waits longer than this, whatever happens to the event.
      const timer = setTimeout(resolve, MAX_OUTCOME_MS, { status: 'queued' });
      this.#resolve = (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      };
    });
    return this.#promise;
  }

  end(outcome: Outcome): void {
    this.#ended = outcome;
    this.#resolve?.(outcome);
  }
}

/** Not in the types of the DOM yet. */
const hasPrivacyControl = (): boolean =>
  !!(navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl;

const problemOf = (event: unknown, email: unknown, data: unknown): string | undefined => {
  if (typeof event !== 'string' || event === '') {
    return 'its name must be a text';
  }
  if (email && !emailOf(email)) {
    return `the contact of "${event}" must be an email address`;
  }
  return data === undefined || (typeof data === 'object' && data !== null && !Array.isArray(data))
    ? undefined
    : `the data of "${event}" must be an object`;
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
