import {
  type Decisions,
  decisionsOf,
  hasNewer,
  isDenied,
  merge,
  UNDECIDED,
} from '../../../src/tracker/consent.js';
import {
  type EventEnd,
  type QueuedEvent,
  type EventRecord,
  NOBODY,
  Queue,
} from '../../../src/tracker/queue.js';
import { createStore, type TextStore } from '../../../src/tracker/store.js';

// Up to three tabs over one simulated localStorage, channel, network and clock. A seed decides what
// they do, and in which order; the invariants are checked at each step and at the end.

/** Faults that a test puts into a world, to show that the model would find them. */
export type Bug =
  | 'no mark before a request'
  | 'finished events stay stored'
  | 'a tab does not read its own key before a request'
  | 'takes over without a lock and a wait'
  | 'takes over from tabs that answer'
  | 'ignores the decisions of other tabs'
  | 'does not write a decision back'
  | 'drops open requests when the tracker is disposed of'
  | 'does not count the bytes of the other trackers';

const PREFIX = 'postreel:model:';
const CONSENT = `${PREFIX}consent`;
const EMAILS = ['ann@example.com', 'bob@example.com'];
/** The delay after which an engine shows a tab the writes of another one. */
const MAX_LAG_MS = 51;
const SETTLED_AFTER_MS = 100;
const MAX_SILENCE_MS = 3000;
const MAX_BYTES = 64_000;
const DAY_MS = 86_400_000;

/** The real state of one event, whatever the tabs assume. */
interface EventState {
  readonly id: string;
  readonly at: number;
  accepted: number;
  sent: number;
  ends: EventEnd[];
  /**
   * The documentation allows it in this world: the event may come twice, be lost, or survive an
   * erasure.
   */
  mayRepeat: boolean;
  mayBeLost: boolean;
  maySurvive: boolean;
}

interface Tab {
  readonly name: string;
  readonly queue: Queue;
  readonly erase: () => void;
  /**
   * All trackers of one page share the bytes that may outlive it: here a page has one more tracker.
   */
  bytes: number;
  isGone: boolean;
  /**
   * Its tracker was disposed of. Its page still exists, and its open requests are still answered.
   */
  isDisposed: boolean;
  isFrozen: boolean;
  frozenSince: number;
  /** The calls of the store that throw from now on. */
  failure: 'none' | 'writes' | 'all';
  /** The decisions that the tab must know, according to the model. */
  known: Decisions;
  readonly inbox: Message[];
  look: Search | undefined;
  /** The time when its timer fires. */
  wakeAt: number;
}

interface Message {
  readonly isQuestion?: boolean;
  readonly from: string;
  readonly decisions: Decisions;
  readonly pausedUntil: number;
}

/** A search for the events of other tabs, one step at a time. */
interface Search {
  stage: 'asked' | 'claimed';
  at: number;
  silent: Set<string>;
}

interface Request {
  readonly tab: Tab;
  readonly entries: readonly QueuedEvent[];
  readonly isKeptAlive: boolean;
  isRead: boolean;
  isExit: boolean;
}

interface Write {
  readonly value: string | undefined;
  readonly by: string;
  readonly at: number;
}

/** Runs one random world to its end; returns the broken promises. */
export function runWorld(seed: number, bug?: Bug): readonly string[] {
  const world = new World(seed, bug);
  const steps = 20 + Math.floor(world.random() * 80);
  const weights = ACTIONS.map(([weight]) => weight * world.pick([0.2, 1, 1, 1, 5]));
  world.start();
  for (let step = 0; step < steps && !world.problems.length; step++) {
    let ticket = world.random() * weights.reduce((sum, weight) => sum + weight, 0);
    const index = weights.findIndex((weight) => {
      ticket -= weight;
      return ticket < 0;
    });
    ACTIONS[index]![1](world);
  }
  if (!world.problems.length) {
    world.end();
  }
  return world.problems;
}

/** The possible actions and their weights. */
const ACTIONS: readonly (readonly [weight: number, act: (world: World) => void])[] = [
  [16, (world) => world.onTab((tab) => world.track(tab))],
  [10, (world) => world.onTab((tab) => world.pump(tab))],
  [16, (world) => world.network()],
  [10, (world) => world.hear()],
  [8, (world) => world.onTab((tab) => world.look(tab))],
  [8, (world) => world.pass(world.pick([1, 20, 60, 120, 1000, 5000]))],
  [3, (world) => world.pass(world.pick([60_000, 301_000, 3_600_000, DAY_MS]))],
  [4, (world) => world.start()],
  [5, (world) => world.onTab((tab) => world.leave(tab))],
  [2, (world) => world.rush()],
  [2, (world) => world.onTab((tab) => world.dispose(tab))],
  [3, (world) => world.comeBack()],
  [2, (world) => world.onTab((tab) => world.freeze(tab))],
  [3, (world) => world.thaw()],
  [2, (world) => world.onTab((tab) => tab.queue.identify(world.pick(EMAILS)))],
  [1, (world) => world.onTab((tab) => world.crash(tab))],
  [1, (world) => world.kill()],
  [2, (world) => world.saveDisk()],
  [1, (world) => world.clear()],
  [1, (world) => world.onTab((tab) => world.decide(tab, 'denied'))],
  [1, (world) => world.onTab((tab) => world.decide(tab, 'granted'))],
  [1, (world) => world.onTab((tab) => world.decide(tab, 'erased'))],
  [1, (world) => world.onTab((tab) => world.togglePause(tab))],
  [1, (world) => world.onTab((tab) => world.failStore(tab))],
  [1, (world) => world.toggleNetwork()],
];

class World {
  now = 1.8e12;
  isOnline = true;
  readonly problems: string[] = [];
  readonly #bug: Bug | undefined;
  readonly #delivery: 'no-duplicates' | 'no-loss';
  readonly #isProxy: boolean;
  readonly #hasStoreFaults: boolean;
  readonly #truths = new Map<string, EventState>();
  readonly #sizes = new Map<string, number>();
  #state: number;
  #tabs: Tab[] = [];
  #names = 0;
  #ids = 0;
  #writes = new Map<string, Write[]>();
  #disk = new Map<string, string>();
  #requests: Request[] = [];
  #lock: Tab | undefined;
  /** The decisions made in any tab. */
  #decided = UNDECIDED;

  constructor(seed: number, bug: Bug | undefined) {
    this.#state = seed * 2_654_435_761;
    this.#bug = bug;
    this.#delivery = this.#chance(0.7) ? 'no-duplicates' : 'no-loss';
    this.#isProxy = this.#chance(0.3);
    this.#hasStoreFaults = this.#chance(0.2);
  }

  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  #chance(probability: number): boolean {
    return this.random() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.random() * items.length)]!;
  }

  /** Runs an action on a tab that is visible and not frozen. */
  onTab(work: (tab: Tab) => void): void {
    const tabs = this.#tabs.filter(({ isFrozen, queue }) => !isFrozen && !queue.isLeft);
    if (tabs.length) {
      work(this.pick(tabs));
    }
  }

  start(): void {
    if (this.#tabs.length >= 3) {
      return;
    }
    const tab = this.#open();
    if (this.#chance(0.7)) {
      tab.queue.identify(this.pick(EMAILS));
    }
    // Without consent nothing is stored; a visitor may give it later, by `granted`.
    if (this.#chance(0.9)) {
      this.#begin(tab);
    }
  }

  #begin(tab: Tab): void {
    this.#seeDecisions(tab);
    tab.queue.syncDecisions();
    if (isDenied(tab.queue.decisions)) {
      tab.erase();
      return;
    }
    tab.queue.start();
    this.look(tab);
    this.pump(tab);
  }

  track(tab: Tab): void {
    const { queue } = tab;
    this.#seeDecisions(tab);
    queue.syncDecisions();
    // Events tracked without consent are held by the page, which is not modelled, or dropped.
    if (!queue.isAllowed) {
      return;
    }
    const id = `${PREFIX}${String(this.#ids++).padStart(4, '0')}`;
    const at = Math.max(this.now, queue.decisions.erasedAt + 1);
    this.#truths.set(id, {
      id,
      at,
      accepted: 0,
      sent: 0,
      ends: [],
      mayRepeat: false,
      // Another tab may have made a decision that this tab does not know yet.
      mayBeLost:
        isDenied(this.#decided) ||
        at <= this.#decided.erasedAt ||
        this.#tabs.some((other) => isDenied(other.queue.decisions)),
      maySurvive: false,
    });
    this.#sizes.set(id, this.pick([200, 200, 5000, 30_000]));
    const { email, owner } = queue;
    queue.take({ id, at, owner, event: 'clicked', email });
    if (this.#chance(0.8)) {
      this.pump(tab);
    }
  }

  pump(tab: Tab): void {
    this.#seeDecisions(tab);
    tab.wakeAt = tab.queue.pump();
  }

  decide(tab: Tab, decision: 'erased' | 'denied' | 'granted'): void {
    this.#seeDecisions(tab);
    tab.queue.decide(decision);
    if (decision !== 'granted') {
      this.#allow('mayBeLost');
    }
    tab.known = merge(tab.known, tab.queue.decisions);
    this.#decided = merge(this.#decided, tab.known);
    if (decision === 'granted') {
      this.#begin(tab);
      return;
    }
    const left = [...this.#keysOf(tab)].filter((key) => key !== CONSENT);
    if (left.length && tab.failure === 'none' && this.#bug !== 'finished events stay stored') {
      this.#fail(`${decision}: still stored: ${left.join()}`);
    }
    if (tab.failure !== 'none') {
      // A store that rejects writes may not be erasable.
      this.#allow('maySurvive');
    }
  }

  toggleNetwork(): void {
    this.isOnline = !this.isOnline;
  }

  togglePause({ queue }: Tab): void {
    queue.isPaused = !queue.isPaused;
  }

  failStore(tab: Tab): void {
    if (!this.#hasStoreFaults || tab.failure !== 'none') {
      return;
    }
    tab.failure = this.pick(['writes', 'all'] as const);
    for (const { record } of tab.queue.entries) {
      const truth = this.#truths.get(record.id)!;
      // Events in memory end with their page; an entry that cannot be removed is sent by other tabs
      // too.
      truth.mayBeLost = true;
      truth.mayRepeat ||= tab.failure === 'all';
    }
  }

  /** One step of a search for the events of other tabs. */
  look(tab: Tab): void {
    const { queue, look } = tab;
    if (!queue.isAllowed && look?.stage !== 'claimed') {
      tab.look = undefined;
      return;
    }
    if (!look) {
      this.#startLook(tab);
    } else if (look.stage === 'asked' && this.now >= look.at + MAX_SILENCE_MS) {
      tab.look = undefined;
      this.#claim(tab, look.silent);
    } else if (look.stage === 'claimed' && this.now >= look.at + SETTLED_AFTER_MS) {
      this.#adopt(tab);
    }
  }

  #startLook(tab: Tab): void {
    const owners = new Set(tab.queue.readAll().map(({ owner }) => owner));
    owners.delete(tab.queue.owner);
    if (owners.has(NOBODY)) {
      this.#claim(tab, new Set([NOBODY]));
    } else if (owners.size) {
      tab.look = { stage: 'asked', at: this.now, silent: owners };
      this.#post(tab, { ...tab.queue.tabState, isQuestion: true, from: tab.name });
    }
  }

  #claim(tab: Tab, owners: ReadonlySet<string>): void {
    const isHasty = this.#bug === 'takes over without a lock and a wait';
    if (this.#lock && !isHasty) {
      return;
    }
    this.#lock = tab;
    tab.look = { stage: 'claimed', at: this.now, silent: new Set() };
    tab.queue.claim((record) => {
      const isOrphan = owners.has(record.owner);
      const owner = this.#tabs.find(({ name }) => name === record.owner);
      if (isOrphan && owner) {
        this.#noteMistake(owner, record);
      }
      return isOrphan;
    });
    if (isHasty) {
      this.#adopt(tab);
    }
  }

  /**
   * A live tab did not answer because it was frozen. If it wakes at this moment, both tabs may
   * send.
   */
  #noteMistake(owner: Tab, { id }: EventRecord): void {
    const isWakeful = !owner.isFrozen && this.now < owner.frozenSince + 200;
    if (isWakeful || owner.isFrozen) {
      this.#wakes.push({ owner, id, at: this.now });
    }
    if (isWakeful) {
      this.#truths.get(id)!.mayRepeat = true;
    }
  }
  readonly #wakes: { readonly owner: Tab; readonly id: string; readonly at: number }[] = [];

  #adopt(tab: Tab): void {
    tab.look = undefined;
    this.#lock = undefined;
    tab.queue.adopt();
    this.pump(tab);
  }

  leave(tab: Tab): void {
    const { queue } = tab;
    this.#seeDecisions(tab);
    // Events whose takeover is not certain yet stay stored.
    const isCertain = tab.look?.stage !== 'claimed' && tab.failure === 'none';
    const own = queue.entries.filter(({ record }) => isCertain && record.owner === queue.owner);
    const before = this.#requests.length;
    queue.isWithinSite = this.#chance(0.5);
    queue.leave();
    this.#checkExit(tab, own, this.#requests.length > before);
    if (this.#lock === tab) {
      this.#lock = undefined;
    }
    tab.look = undefined;
    tab.inbox.length = 0;
    for (const request of this.#requests) {
      request.isExit ||= request.tab === tab;
    }
    if (this.#chance(0.6)) {
      this.#close(tab);
    }
  }

  /** A tracker ends before its page, as with a route change, and another tracker starts. */
  dispose(tab: Tab): void {
    this.#seeDecisions(tab);
    tab.isDisposed = true;
    tab.queue.leave(this.#bug === 'drops open requests when the tracker is disposed of');
    if (this.#lock === tab) {
      this.#lock = undefined;
    }
    tab.look = undefined;
    tab.wakeAt = Infinity;
    this.#closeOnceAnswered(tab);
    this.start();
  }

  #closeOnceAnswered(tab: Tab): void {
    if (tab.isDisposed && !this.#requests.some((request) => request.tab === tab)) {
      this.#close(tab);
    }
  }

  /** Checks that the exit handed over everything that fits, unless a reason forbids it. */
  #checkExit({ queue, bytes }: Tab, own: readonly QueuedEvent[], wasHandedOver: boolean): void {
    const isKept = queue.isWithinSite && this.#delivery === 'no-loss';
    const isLeftBehind = (entry: QueuedEvent) =>
      own.includes(entry) && !entry.isSent && !!entry.record.email && entry.until <= this.now;
    const fits = ({ record }: QueuedEvent) => this.#sizeOf(record) + bytes < MAX_BYTES;
    if (wasHandedOver && !isKept && queue.entries.filter(isLeftBehind).some(fits)) {
      this.#fail('an exit left events behind that would have fitted');
    }
  }

  /** A page is left, and two others of the site start at the same time. */
  rush(): void {
    this.onTab((tab) => {
      tab.queue.isPaused = true;
      this.leave(tab);
    });
    this.start();
    this.start();
    this.onTab((tab) => this.look(tab));
    this.pass(this.pick([1, 20, 60, 120]));
  }

  comeBack(): void {
    const left = this.#tabs.filter(({ queue, isDisposed }) => queue.isLeft && !isDisposed);
    if (left.length) {
      const tab = this.pick(left);
      tab.queue.comeBack();
      // Its channel is opened again, which sends a question to all tabs.
      this.#post(tab, { ...tab.queue.tabState, isQuestion: true, from: tab.name });
      this.look(tab);
      this.pump(tab);
    }
  }

  freeze(tab: Tab): void {
    tab.isFrozen = true;
    // No engine freezes a tab that holds a lock for long.
    if (this.#lock === tab) {
      tab.isFrozen = false;
    }
  }

  thaw(): void {
    const frozen = this.#tabs.filter(({ isFrozen }) => isFrozen);
    if (!frozen.length) {
      return;
    }
    const tab = this.pick(frozen);
    tab.isFrozen = false;
    tab.frozenSince = this.now;
    for (const { owner, id, at } of this.#wakes) {
      if (owner === tab && this.now < at + 200) {
        this.#truths.get(id)!.mayRepeat = true;
      }
    }
  }

  /** A page ends without any event. */
  crash(tab: Tab): void {
    for (const { isStored, isSent, record } of tab.queue.entries) {
      const truth = this.#truths.get(record.id)!;
      truth.mayBeLost ||= !isStored || isSent;
    }
    this.#close(tab);
  }

  /** All pages end, and the writes of the last seconds are lost. */
  kill(): void {
    const current = this.#current();
    for (const truth of this.#truths.values()) {
      if (current.get(truth.id) !== this.#disk.get(truth.id)) {
        Object.assign(truth, { mayRepeat: true, mayBeLost: true, maySurvive: true });
      }
    }
    if (current.get(CONSENT) !== this.#disk.get(CONSENT)) {
      this.#allow('maySurvive');
    }
    for (const tab of [...this.#tabs]) {
      this.crash(tab);
    }
    this.#writes = new Map(
      [...this.#disk].map(([key, value]) => [key, [{ value, by: '', at: this.now - 1000 }]]),
    );
  }

  saveDisk(): void {
    this.#disk = this.#current();
  }

  /** The page's code calls `localStorage.clear()`. */
  clear(): void {
    for (const truth of this.#truths.values()) {
      truth.mayBeLost = true;
    }
    // A denial that no open tab knows is lost.
    for (const key of this.#writes.keys()) {
      this.#write(key, undefined, '');
    }
  }

  pass(ms: number): void {
    if (ms >= MAX_SILENCE_MS) {
      // Within this time, a tab that is not frozen gets the messages of others and answers.
      for (const tab of this.#tabs.filter(({ isFrozen }) => !isFrozen)) {
        tab.inbox.splice(0).forEach((message) => this.#deliver(tab, message));
      }
    }
    this.now += ms;
    for (const tab of this.#tabs) {
      if (!tab.isFrozen && !tab.queue.isLeft && tab.wakeAt <= this.now) {
        this.pump(tab);
      }
    }
    if (ms >= 60_000) {
      this.#timeOut();
    }
  }

  /** A tab receives the next message. */
  hear(): void {
    this.onTab((tab) => {
      const message = tab.inbox.shift();
      if (message) {
        this.#deliver(tab, message);
      }
    });
  }

  #deliver(tab: Tab, { isQuestion, from, decisions, pausedUntil }: Message): void {
    if (this.#bug !== 'ignores the decisions of other tabs') {
      tab.queue.applyDecisions(decisions);
      tab.queue.syncDecisions();
    }
    tab.known = merge(tab.known, decisions);
    tab.queue.pauseUntil(pausedUntil);
    if (isQuestion || hasNewer(tab.queue.decisions, decisions)) {
      this.#post(tab, { ...tab.queue.tabState, from: tab.name });
    }
    if (tab.look?.stage === 'asked' && this.#bug !== 'takes over from tabs that answer') {
      tab.look.silent.delete(from);
    }
    this.pump(tab);
  }

  #post(tab: Tab, message: Message): void {
    for (const other of this.#tabs) {
      if (other !== tab && (!other.queue.isLeft || other.isDisposed)) {
        other.inbox.push(message);
      }
    }
    // A tab that is not frozen answers within its three seconds.
    if (message.isQuestion) {
      for (const other of this.#tabs) {
        while (other !== tab && !other.isFrozen && other.inbox.length) {
          this.#deliver(other, other.inbox.shift()!);
        }
      }
      while (tab.inbox.length) {
        this.#deliver(tab, tab.inbox.shift()!);
      }
    }
  }

  /** The next step of a request: it is read, answered or lost. */
  network(): void {
    const request = this.#requests.length ? this.pick(this.#requests) : undefined;
    if (!request) {
      return;
    }
    const isLost = this.#chance(0.1) || !this.isOnline;
    if (!request.isRead && isLost) {
      this.#answer(request, () => 0);
    } else if (!request.isRead) {
      request.isRead = true;
      const isHealthy = this.#chance(0.8);
      const statuses = new Map(
        request.entries.map(({ record }) => [
          record.id,
          isHealthy ? 200 : this.pick([429, 503, 500, 400, 401, 408]),
        ]),
      );
      this.#statuses.set(request, statuses);
      for (const { record } of request.entries) {
        const status = statuses.get(record.id)!;
        // A 500 and a 408 do not tell whether the event was taken.
        if (status === 200 || ((status === 500 || status === 408) && this.#chance(0.5))) {
          this.#accept(request.tab, record);
        }
      }
    } else if (!request.tab.isFrozen) {
      const statuses = this.#statuses.get(request)!;
      this.#answer(request, ({ record }) => (isLost ? 0 : statuses.get(record.id)!));
    }
  }
  readonly #statuses = new Map<Request, Map<string, number>>();

  #accept(tab: Tab, record: EventRecord): void {
    const truth = this.#truths.get(record.id)!;
    truth.accepted++;
    if (truth.accepted > 1 && !truth.mayRepeat && this.#delivery === 'no-duplicates') {
      this.#fail(`${record.id} came twice, the second time from ${tab.name}`);
    }
  }

  #answer(request: Request, statusOf: (entry: QueuedEvent) => number): void {
    const { tab, entries } = request;
    if (tab.isFrozen) {
      return;
    }
    this.#requests = this.#requests.filter((other) => other !== request);
    if (tab.isGone || (tab.queue.isLeft && !tab.isDisposed)) {
      return; // no page is left to get the answer
    }
    const statuses = entries.map(statusOf);
    for (const [index, entry] of entries.entries()) {
      const status = statuses[index]!;
      const truth = this.#truths.get(entry.record.id)!;
      // No answer, or one that does not tell whether the event was taken: three attempts.
      truth.mayRepeat ||= status < 1 || status === 408 || status === 500;
    }
    tab.queue.handleAnswers(entries, (index) => ({ status: statuses[index]! }));
    this.pump(tab);
    this.#closeOnceAnswered(tab);
  }

  /** Every request that is older than a minute has ended for its page. */
  #timeOut(): void {
    for (const request of this.#requests) {
      if (!request.tab.queue.isLeft || request.tab.isDisposed) {
        this.#answer(request, () => -1);
      }
    }
  }

  #close(tab: Tab): void {
    tab.isGone = true;
    tab.isFrozen = false;
    if (this.#lock === tab) {
      this.#lock = undefined;
    }
    for (const { isStored, record } of tab.queue.entries) {
      this.#truths.get(record.id)!.mayBeLost ||= !isStored;
    }
    this.#tabs = this.#tabs.filter((other) => other !== tab);
    // Handed-over requests continue, or the browser drops them.
    this.#requests = this.#requests.filter(
      (request) => request.tab !== tab || (request.isKeptAlive && this.#chance(0.8)),
    );
  }

  /** The end of a world: every tab ends, and a last visit finds the remaining events. */
  end(): void {
    this.isOnline = true;
    for (const tab of this.#tabs) {
      tab.isFrozen = false;
      tab.queue.isPaused = false;
    }
    this.pass(2 * SETTLED_AFTER_MS);
    this.#settle();
    this.#checkKept();
    for (const tab of [...this.#tabs]) {
      this.leave(tab);
      if (!tab.isGone) {
        this.#close(tab);
      }
    }
    this.#requests = [];
    this.pass(2 * SETTLED_AFTER_MS);
    const tab = this.#open();
    tab.queue.identify(EMAILS[0]);
    this.#begin(tab);
    this.#settle();
    this.#judge(tab);
  }

  /** The network works and time passes, until nothing changes any more. */
  #settle(): void {
    // A search is repeated only for a reason: here, a few times.
    let looks = 4 * this.#tabs.length;
    for (let round = 0; round < 400; round++) {
      for (const tab of this.#tabs) {
        if (tab.queue.isLeft && !tab.isDisposed) {
          tab.queue.comeBack();
        }
        tab.inbox.splice(0).forEach((message) => this.#deliver(tab, message));
        if (tab.look || looks-- > 0) {
          this.look(tab);
        }
        this.pump(tab);
      }
      for (const request of this.#requests.filter(({ isRead }) => !isRead)) {
        request.isRead = true;
        request.entries.forEach(({ record }) => this.#accept(request.tab, record));
        this.#statuses.set(request, new Map(request.entries.map(({ record }) => [record.id, 200])));
      }
      for (const request of this.#requests) {
        const statuses = this.#statuses.get(request)!;
        this.#answer(request, ({ record }) => statuses.get(record.id)!);
      }
      const isBusy = this.#requests.length || this.#tabs.some(({ look }) => look);
      const wakeAt = Math.min(...this.#tabs.map((tab) => tab.wakeAt));
      if (!isBusy && wakeAt === Infinity && (looks <= 0 || !this.#tabs.length)) {
        return;
      }
      for (const tab of this.#tabs) {
        tab.queue.isPaused = false;
      }
      this.now = Math.max(this.now + 120, isBusy ? 0 : Math.min(wakeAt, this.now + 300_001));
    }
    this.#fail('the world never came to rest');
  }

  /** Expects that the store has every decision that an open tab knows. */
  #checkKept(): void {
    const stored = decisionsOf(JSON.parse(this.#current().get(CONSENT) ?? 'null'));
    const keeps = this.#tabs.filter(({ queue, failure }) => queue.isStarted && failure === 'none');
    if (keeps.some(({ known }) => hasNewer(known, stored))) {
      this.#fail('a decision was not written back');
    }
  }

  #judge(tab: Tab): void {
    const left = [...this.#current().keys()].filter((key) => key !== CONSENT);
    const isClean = left.every((key) => this.#truths.get(key)?.maySurvive);
    if (!isClean) {
      this.#fail(`still stored in the end: ${left.join()}`);
    }
    for (const truth of this.#truths.values()) {
      const isEnded = truth.ends.some((end) => end !== 'elsewhere' && end !== 'unconfirmed');
      const isOpen = truth.ends.includes('unconfirmed') && truth.sent > 0;
      const { erasedAt } = tab.queue.decisions;
      const isErased = truth.at <= erasedAt || isDenied(tab.queue.decisions);
      if (!truth.accepted && !isEnded && !isOpen && !truth.mayBeLost && !isErased) {
        this.#fail(`${truth.id} was lost and not reported; ${tab.name} found nothing`);
      }
      if (truth.sent > 3 && this.#delivery === 'no-duplicates' && !truth.mayRepeat) {
        this.#fail(`${truth.id} was sent ${truth.sent} times`);
      }
    }
  }

  #open(): Tab {
    const name = `tab ${this.#names++}`;
    // eslint-disable-next-line @typescript-eslint/no-this-alias -- ports with getters need it
    const world = this;
    const store = createStore({
      prefix: PREFIX,
      keepsEvents: true,
      open: () => world.#storeOf(tab),
      onFailure: () => {
        for (const { record } of tab.queue.entries) {
          world.#truths.get(record.id)!.mayBeLost = true;
        }
      },
    });
    const own = new Map<string, EventRecord>();
    const queue = new Queue(
      {
        store: {
          ...store,
          get keepsEvents() {
            return store.keepsEvents;
          },
          get: (id) =>
            world.#bug === 'a tab does not read its own key before a request'
              ? (own.get(id) ?? store.get(id))
              : store.get(id),
          set: (record) => {
            const isBroken = world.#bug === 'no mark before a request';
            own.set(record.id, record);
            return store.set(isBroken ? { ...record, isHandedOver: undefined } : record);
          },
          remove: (id) => {
            if (world.#bug !== 'finished events stay stored') {
              store.remove(id);
            }
          },
          decisions: () =>
            world.#bug === 'ignores the decisions of other tabs' ? UNDECIDED : store.decisions(),
          saveDecisions: (decisions) => {
            const isNew = hasNewer(decisions, tab.known);
            if (isNew || world.#bug !== 'does not write a decision back') {
              store.saveDecisions(decisions);
            }
          },
        },
        budget: {
          take: (bytes) => {
            const isBroken = world.#bug === 'does not count the bytes of the other trackers';
            const isTaken = isBroken || tab.bytes + bytes <= MAX_BYTES;
            tab.bytes += isTaken ? bytes : 0;
            return isTaken;
          },
          giveBack: (bytes) => {
            tab.bytes -= bytes;
          },
        },
        now: () => world.now,
        isOnline: () => world.isOnline,
        bytesOf: (record) => world.#sizeOf(record),
        send: (batch, isKeptAlive) => {
          world.#send(tab, batch, isKeptAlive);
        },
        isOpen: (id) => tab.queue.entries.some(({ record, isSent }) => isSent && record.id === id),
        broadcast: (told) => world.#post(tab, { ...told, from: tab.name }),
        onEnd: ({ record }, end) => {
          world.#checkAnswered(tab, record, end);
          world.#truths.get(record.id)!.ends.push(end);
        },
        emit: () => undefined,
      },
      {
        owner: name,
        delivery: this.#delivery,
        retryAmbiguous: true,
        maxAgeMs: DAY_MS,
        maxBatch: this.#isProxy ? 20 : 1,
        limit: { perSecond: 5, burst: 20 },
      },
    );
    const tab: Tab = {
      name,
      queue,
      erase: store.erase,
      bytes: this.pick([0, 0, 40_000]),
      isGone: false,
      isDisposed: false,
      isFrozen: false,
      frozenSince: -Infinity,
      failure: 'none',
      known: UNDECIDED,
      inbox: [],
      look: undefined,
      wakeAt: Infinity,
    };
    this.#tabs.push(tab);
    this.#post(tab, { ...queue.tabState, isQuestion: true, from: name });
    return tab;
  }

  #send(tab: Tab, batch: readonly QueuedEvent[], isKeptAlive: boolean): void {
    const { queue } = tab;
    const isExit = queue.isLeft;
    for (const entry of batch) {
      const { record, isStored } = entry;
      const truth = this.#truths.get(record.id)!;
      truth.sent++;
      const isErased = record.at <= tab.known.erasedAt || isDenied(tab.known);
      if (isErased && !truth.maySurvive) {
        this.#fail(`${tab.name} sent ${record.id}, which it knew to be erased or denied`);
      }
      const copy = this.#read(record.id, tab);
      if (isStored && tab.failure === 'none' && !copy?.includes('"isHandedOver":true')) {
        this.#fail(`${record.id} was sent without a mark`);
      }
      if (!isExit) {
        this.#checkOrder(tab, batch, entry);
      }
    }
    if (tab.bytes > MAX_BYTES) {
      this.#fail(`${tab.bytes} bytes are kept alive at once`);
    }
    this.#requests.push({ tab, entries: batch, isKeptAlive, isRead: false, isExit });
  }

  /** One request at a time for each contact, and the oldest event first. */
  #checkOrder({ queue, look }: Tab, batch: readonly QueuedEvent[], entry: QueuedEvent): void {
    const isCertain = look?.stage !== 'claimed';
    for (const other of queue.entries) {
      const isSame = other.record.email === entry.record.email && !batch.includes(other);
      const isBusy = other.isSent && !other.isExit;
      const isEarlier = other.record.at < entry.record.at && !other.isSent && other.until === 0;
      if (isSame && (isBusy || (isCertain && isEarlier && other.record.owner === queue.owner))) {
        this.#fail(`${entry.record.id} overtook ${other.record.id}`);
      }
    }
  }

  #sizeOf({ id }: EventRecord): number {
    return this.#sizes.get(id) ?? 200;
  }

  /** The decisions that the tab sees now must be known to it from now on. */
  #seeDecisions(tab: Tab): void {
    const text = tab.failure === 'all' ? undefined : this.#read(CONSENT, tab);
    tab.known = merge(tab.known, decisionsOf(JSON.parse(text ?? 'null')));
  }

  #storeOf(tab: Tab): TextStore {
    const check = (failures: readonly Tab['failure'][]) => {
      if (failures.includes(tab.failure)) {
        throw new Error('of the store');
      }
    };
    return {
      keys: () => {
        check(['all']);
        return [...this.#keysOf(tab)];
      },
      get: (key) => {
        check(['all']);
        return this.#read(key, tab);
      },
      set: (key, value) => {
        check(['all', 'writes']);
        if (!tab.queue.isStarted && key !== CONSENT) {
          this.#fail(`${tab.name} stored something before it had consent`);
        }
        if (key !== CONSENT) {
          this.#checkAlive(tab, JSON.parse(value) as EventRecord);
        }
        const copy = this.#read(key, tab) ?? '';
        const isMark = [value, copy].map((text) => text.includes('"isHandedOver":true')).join();
        if (isMark === 'true,false' && !copy.includes(`"owner":"${tab.name}"`)) {
          this.#fail(`${tab.name} marked ${key}, which is gone or another tab's`);
        }
        this.#write(key, value, tab.name);
      },
      remove: (key) => {
        check(['all']);
        this.#write(key, undefined, tab.name);
      },
    };
  }

  /** While its page lives, only the answer to an open request decides about its events. */
  #checkAnswered(tab: Tab, { id }: EventRecord, end: EventEnd): void {
    const isOpen = this.#requests.some(
      (request) =>
        request.tab !== tab &&
        !request.isExit &&
        !request.tab.isGone &&
        request.tab.isDisposed &&
        request.entries.some(({ record }) => record.id === id),
    );
    if (isOpen && end === 'unconfirmed') {
      this.#fail(`${tab.name} gave ${id} up, whose request is open`);
    }
  }

  /** A tab that knows of an erasure does not write an event from before it again. */
  #checkAlive({ name, known }: Tab, { id, at }: EventRecord): void {
    if (at <= known.erasedAt) {
      this.#fail(`${name} stored ${id} again, which it knew to be erased`);
    }
  }

  #write(key: string, value: string | undefined, by: string): void {
    const writes = this.#writes.get(key) ?? [];
    const isOld = ({ at }: Write) => at < this.now - MAX_LAG_MS;
    // The last write that every tab can see hides all earlier ones.
    const recent = writes.slice(Math.max(0, writes.findLastIndex(isOld)));
    this.#writes.set(key, [...recent, { value, by, at: this.now }]);
  }

  /**
   * The value of a key for a tab: it sees its writes at once, and those of others a moment later,
   * in order.
   */
  #read(key: string, tab: Tab): string | undefined {
    const seen = Math.floor(this.now / MAX_LAG_MS);
    const isVisible = ({ by, at }: Write) => by === tab.name || Math.floor(at / MAX_LAG_MS) < seen;
    return this.#writes.get(key)?.findLast(isVisible)?.value;
  }

  *#keysOf(tab: Tab): Generator<string> {
    for (const key of this.#writes.keys()) {
      if (this.#read(key, tab) !== undefined) {
        yield key;
      }
    }
  }

  #current(): Map<string, string> {
    return new Map(
      [...this.#writes].flatMap(([key, writes]) => {
        const value = writes.at(-1)?.value;
        return value === undefined ? [] : [[key, value] as const];
      }),
    );
  }

  /** From now on, this may happen to all events tracked so far. */
  #allow(what: 'mayBeLost' | 'maySurvive'): void {
    for (const truth of this.#truths.values()) {
      truth[what] = true;
    }
  }

  #fail(problem: string): void {
    this.problems.push(problem);
  }
}
