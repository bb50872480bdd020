import { type Decision, isDenied } from './consent.js';
import { copyOf, snapshot } from './data.js';
import { createNotices } from './notices.js';
import { checkedOptions, emailOf, newId, prefixOf } from './options.js';
import type { Life, Place } from './page.js';
import {
  type End,
  type QueuedEvent,
  type EventRecord,
  isFinal,
  isRejection,
  MAX_WAIT_MS,
  Queue,
  type Store,
} from './queue.js';
import {
  budgetOfPage,
  bytesOf,
  openRequestsOfPage,
  request,
  type Target,
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

/** A wait without a known end resolves after this. */
const MAX_OUTCOME_MS = 10_000;
/** Nothing is looked at more often. */
const MIN_TIMER_MS = 50;

const STORE_FAILED =
  'The storage failed. What is not delivered when the page ends may be lost, and a decision forgotten.';

/** An event that waits for consent, as it was tracked. */
interface Held {
  readonly tracked: Tracked;
  readonly asked: TimedEvent;
}

/** An event with the time at which it was tracked. */
type TimedEvent = PendingEvent & { readonly at: number };

/** One tracker: takes events in, has them sent and tells what became of them. Nothing in here throws. */
export class Core implements Life {
  readonly notices = createNotices();
  readonly counts: TrackerStats = {};
  readonly queue: Queue;
  readonly #options: TrackerOptions;
  readonly #place: Place;
  readonly #prefix: string;
  readonly #target: Target;
  readonly #store: Store;
  readonly #tabs: Tabs;
  readonly #stop: () => void;
  /** The promises and the requests of events that have not ended. */
  readonly #tracked = new Map<string, Tracked>();
  readonly #requests = new Map<string, AbortController>();
  /** Fulfilled once the answer to the open request with this event has been handled. */
  readonly #answered = new Map<string, Promise<void>>();
  /** Called after each change of the queue, while `flush()` waits. */
  readonly #onPump = new Set<() => void>();
  /** In memory until there is consent; no hook has seen it. */
  #held: readonly Held[] = [];
  #consent: TrackerOptions['consent'];
  #isBegun = false;
  #isDisposed = false;
  /** When the queue can make its next request; `Infinity` where time alone does not help. */
  #nextAt = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(given: TrackerOptions, place: Place) {
    const options = checkedOptions(given);
    const { proxy, publicKey, fetch, storage, limit } = options;
    this.#options = options;
    this.#place = place;
    this.#consent = options.consent;
    this.#prefix = prefixOf(options);
    // No key leaves the page for a proxy.
    const baseUrl = options.baseUrl.replace(/\/+$/, '');
    this.#target = { baseUrl, fetch, publicKey: proxy ? undefined : publicKey };
    const owner = newId(this.#prefix);
    this.#store = createStore({
      prefix: this.#prefix,
      open: place.openStore,
      keepsEvents: storage !== 'memory' && !place.memoryReason,
      onFailure: () => this.notices.warn(STORE_FAILED),
    });
    this.queue = this.#queueOf(owner, limit);
    this.#tabs = place.createTabs({
      prefix: this.#prefix,
      queue: () => this.queue,
      onChange: () => this.pump(),
      onGrant: () => this.#granted(),
    });
    if (options.email !== undefined && options.email !== '') {
      this.identify(options.email);
    }
    if (place.memoryReason) {
      this.notices.warnDeveloper(place.memoryReason);
    }
    this.#stop = place.live(this.#prefix, this);
    this.#tabs.open();
    this.#begin();
  }

  get pending(): number {
    return this.queue.entries.length + this.#held.length;
  }

  track(event: unknown, data: unknown, email: unknown): TrackedEvent {
    const tracked = new Tracked(newId(this.#prefix));
    // as: plain JavaScript may pass anything; it is checked before anything is sent
    const given = { id: tracked.id, event, email, data, at: Date.now() } as TimedEvent;
    const reason = this.#refusal();
    if (reason) {
      this.#drop(tracked, given, reason);
    } else {
      // Another tab may have undone a denial since this page was loaded.
      this.#begin();
      this.#take(tracked, given);
    }
    // What one task tracks goes in one batch.
    queueMicrotask(() => this.pump());
    return tracked;
  }

  identify(given: unknown): void {
    const email = emailOf(given);
    if (given && !email) {
      this.notices.warnDeveloper('identify() needs an email address: events wait for one.');
    }
    this.queue.identify(email);
    this.#held = this.#held.map(({ asked, ...rest }) => {
      return { ...rest, asked: { ...asked, email: asked.email ?? email } };
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

  /** Tries at once; true when nothing is left. Ends as soon as a longer wait could send nothing. */
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

  /** Sends what can be sent, and looks again when there is a cause. */
  pump(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const next = this.queue.pump();
    this.#nextAt = next;
    const { decisions } = this.queue;
    this.#dropHeld('denied', () => isDenied(decisions));
    this.#dropHeld('reset', ({ asked }) => asked.at <= decisions.erasedAt);
    if (next < Infinity) {
      const delayMs = Math.min(MAX_WAIT_MS, Math.max(MIN_TIMER_MS, next - now));
      this.#timer = setTimeout(() => this.pump(), delayMs);
    }
    this.#onPump.forEach((endIfDone) => endIfDone());
  }

  /** Ends this tracker. Its open requests are still answered, as those of the page. */
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
        isOnline: this.#place.isOnline,
        bytesOf: (record) => bytesOf(this.#target, record),
        send: (batch, isKeptAlive) => this.#send(batch, isKeptAlive),
        isOpen: (id) => openRequestsOfPage().has(id),
        tell: (told) => this.#tabs.tell(told),
        ended: (entry, end) => this.#ended(entry.record, end),
        emit: this.notices.emit,
      },
      {
        owner,
        delivery: delivery ?? 'no-duplicates',
        retryAmbiguous: retryAmbiguous ?? true,
        maxAgeMs: maxAge ?? 86_400_000,
        // What a proxy of ours takes in one request.
        maxBatch: proxy ? 20 : 1,
        limit: { perSecond: limit?.perSecond ?? 5, burst: limit?.burst ?? 20 },
      },
    );
  }

  /** Starts where there is consent and somebody sees the page. */
  #begin(): void {
    if (this.#refusal()) {
      // Also what a tab has stored that ended before it knew of a denial.
      this.#store.erase();
    } else if (this.#consent !== 'pending' && !this.#isBegun) {
      this.#isBegun = true;
      this.#place.whenShown(() => this.#start());
    }
  }

  #start(): void {
    // Denied, perhaps, while nobody saw the page.
    if (this.#refusal()) {
      this.#isBegun = false;
      return;
    }
    this.queue.start();
    const held = this.#held;
    this.#held = [];
    // Heeds the waits that earlier pages were asked for, before anything is sent.
    this.#tabs.look();
    // What a disposed tracker of this page still keeps after an answer is found by a new look.
    openRequestsOfPage().forEach((answered) => void answered.then(() => this.#tabs.look()));
    held.forEach((each) => this.#admit(each));
    this.pump();
  }

  /** `grant()` was called in another tab that is open. The option `denied` stays as it is. */
  #granted(): void {
    if (this.#consent !== 'denied') {
      this.#consent = 'granted';
      this.#begin();
    }
  }

  /** Why nothing may be taken in at all. */
  #refusal(): DropReason | undefined {
    if (this.#options.honorGpc !== false && hasPrivacyControl()) {
      return 'gpc';
    }
    this.queue.obey();
    return this.#consent === 'denied' || isDenied(this.queue.decisions) ? 'denied' : undefined;
  }

  /** Copies an event, and holds it until there is consent. */
  #take(tracked: Tracked, given: TimedEvent): void {
    let asked: TimedEvent;
    try {
      // as: a copy has the shape of what was copied
      asked = { ...given, data: copyOf(given.data) as PendingEvent['data'] };
    } catch (error) {
      this.notices.warnDeveloper(`track() dropped "${given.event}": ${textOf(error)}.`);
      this.#drop(tracked, given, 'invalid');
      return;
    }
    if (this.queue.isStarted) {
      this.#admit({ tracked, asked });
    } else if (this.pending >= (this.#options.maxQueue ?? 500)) {
      this.#drop(tracked, asked, 'overflow');
    } else {
      const email = asked.email ?? this.queue.email;
      this.#held = [...this.#held, { tracked, asked: { ...asked, email } }];
    }
  }

  /** Takes one event in: filtered, checked and stored before this returns. */
  #admit({ tracked, asked }: Held): void {
    const { id } = tracked;
    // What is too old makes room.
    this.queue.expire();
    const { maxQueue = 500, maxBytes = 262_144 } = this.#options;
    const item = this.#filtered({ ...asked, email: asked.email ?? this.queue.email });
    if (!item) {
      this.#drop(tracked, asked, 'filtered');
      return;
    }
    const content = this.#contentOf(item);
    if (!content) {
      this.#drop(tracked, asked, 'invalid');
      return;
    }
    const { owner } = this.queue;
    const record = {
      id,
      at: Math.max(asked.at, this.queue.decisions.erasedAt + 1),
      owner,
      ...content,
    };
    const length = this.#store.length() + JSON.stringify(record).length;
    if (this.pending >= maxQueue || length > maxBytes) {
      this.#drop(tracked, asked, 'overflow');
      return;
    }
    this.#count('taken');
    this.#tracked.set(id, tracked);
    this.queue.take(record);
  }

  /** What `beforeSend` makes of an event; nothing where it drops it, or is no such function. */
  #filtered(asked: PendingEvent): PendingEvent | null {
    const { beforeSend } = this.#options;
    if (!beforeSend) {
      return asked;
    }
    try {
      // as: plain JavaScript may return anything
      const item = beforeSend(asked) as PendingEvent | null | undefined;
      if (item === null || typeof item?.event === 'string') {
        return item;
      }
      this.notices.warnDeveloper(
        'beforeSend must return the event or null: the event was dropped.',
      );
    } catch (error) {
      // It may have been about to remove something: what it did not pass stays here.
      this.notices.warnDeveloper(`beforeSend threw (${textOf(error)}). The event was dropped.`);
    }
    return null;
  }

  /** What is sent of an event; nothing where it could never arrive as it is. */
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
    const answerTo = await request(this.#target, {
      records,
      isKeptAlive,
      signal: controller.signal,
    });
    records.forEach(({ id }, index) => {
      this.#requests.delete(id);
      this.#explain(answerTo(index).status);
    });
    this.queue.answered(batch, answerTo);
    // Also of a request that will never end.
    controller.abort();
    this.pump();
  }

  /** Says once what a developer has to mend. */
  #explain(status: number): void {
    if (isRejection(status)) {
      this.notices.warnDeveloper(
        `The service rejected an event with ${status}: check its contact and its data.`,
      );
    } else if (isFinal(status)) {
      const what =
        status < 400
          ? 'answers with a redirect: set baseUrl to where it leads'
          : `answers ${status}: check the key and the address`;
      this.notices.warnDeveloper(`${urlOf(this.#target)} ${what}. Events are kept.`);
    }
  }

  /** Leaves its open requests to the page. Until they are answered, it answers and obeys other tabs. */
  #stopOnceAnswered(): void {
    this.#answered.forEach((answered, id) => openRequestsOfPage().set(id, answered));
    if (!this.#answered.size) {
      this.#stop();
      this.#tabs.close();
    }
  }

  #ended({ id, event, email, data }: EventRecord, end: End): void {
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

  /** Ends the request of an event, once all that it carries has ended. */
  #abort(id: string): void {
    const controller = this.#requests.get(id);
    this.#requests.delete(id);
    if (controller && ![...this.#requests.values()].includes(controller)) {
      controller.abort();
    }
  }

  #drop(tracked: Tracked, asked: PendingEvent, reason: DropReason): void {
    this.#tracked.set(tracked.id, tracked);
    this.#ended({ ...asked, at: 0, owner: '' }, reason);
  }

  #dropHeld(reason: DropReason, isDropped: (held: Held) => boolean): void {
    const dropped = this.#held.filter(isDropped);
    this.#held = this.#held.filter((held) => !dropped.includes(held));
    dropped.forEach(({ tracked, asked }) => this.#drop(tracked, asked, reason));
  }

  #count(name: keyof TrackerStats): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

/** What `track()` returns: the promise is made when somebody asks for it. */
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
      // Whatever happens to it, no caller waits longer than this.
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
