import { isPostreelError, type JournalStore, type MediaJob } from 'postreel';
import { Network, type Told } from './network.js';
import { Random } from './random.js';
import { ModelService } from './service.js';
import { ModelStore } from './store.js';
import { VirtualTime } from './time.js';
import {
  loadAll,
  textOf,
  Worker,
  type End,
  type Item,
  type Surroundings,
  type Wishes,
} from './worker.js';

/** The observations in a world. */
export interface Verdict {
  /** Promises that were broken. */
  readonly violations: readonly string[];
  readonly facts: Facts;
}

/** The events in worlds, to check that the worlds have failures. */
export interface Facts {
  jobs: number;
  calls: number;
  kills: number;
  lostAnswers: number;
  lateAnswers: number;
  storeTroubles: number;
  refusedByLimit: number;
  unknown: number;
}

/** A fault that is put into the code under test, to see that the model finds it. */
export interface Bug {
  /** Its first world when it was last looked for from the first one on: a rare one saves time. */
  readonly from?: number;
  /** Changes the store that a client has. */
  wrap?(store: JournalStore, time: VirtualTime): JournalStore;
  /** Changes what `fetch` answers to a paid call. */
  carry?(answer: Promise<Response>, isLate: () => boolean): Promise<Response>;
  /** Changes the code; answers how to change it back. */
  patch?(): () => void;
}

const minuteMs = 60_000;
const maxSteps = 60_000;
// Longer than any claim lives, and any late answer is waited for.
const restMs = 15 * minuteMs;

let loaded: Promise<void> | undefined;

/** Lives a world from its seed to its end. */
export async function liveWorld(seed: number, bug: Bug = {}): Promise<Verdict> {
  loaded ??= loadAll();
  await loaded;
  const world = new World(seed, bug);
  const undo = bug.patch?.();
  try {
    return await world.live();
  } finally {
    undo?.();
  }
}

class World implements Surroundings {
  readonly time = new VirtualTime();
  readonly random: Random;
  readonly wishes: Wishes;
  readonly items: readonly Item[];
  readonly ends: End[] = [];
  readonly service: ModelService;
  readonly network: Network;
  readonly store: ModelStore;
  readonly #bug: Bug;
  readonly #workers: Worker[] = [];
  readonly #violations = new Set<string>();
  readonly #processes: number;
  readonly #refused: ReadonlySet<string>;
  /** After so many of their moments workers die. */
  #deaths: number[];
  #moments = 0;
  #kills = 0;
  /** Items that a killed worker had in hand. */
  readonly #inHand = new Set<string>();
  #living = 0;

  constructor(seed: number, bug: Bug) {
    this.random = new Random(seed);
    this.#bug = bug;
    const { random, time } = this;
    this.items = itemsOf(random);
    this.#refused = new Set(random.chance(0.15) ? [random.pick(this.items).text] : []);
    this.wishes = wishesOf(random);
    const { pendingLimit, timeoutMs, sendsUnknown, abortChance } = this.wishes;
    this.service = new ModelService(time, random, {
      pendingLimit,
      says: random.pick(['seconds', 'date', 'reset', 'nothing']),
      makesHalf: random.chance(0.3),
      maxJobMs: random.pick([2_000, 10_000, 20_000, minuteMs]),
      failChance: random.pick([0, 0, 0.2]),
      refused: this.#refused,
    });
    const start = time.now();
    const span = (mostMs: number) => {
      const from = start + random.next() * mostMs;
      return { from, to: from + random.next() * mostMs };
    };
    this.network = new Network(time, random, {
      habits: {
        faultChance: random.pick([0, 0.1, 0.3]),
        checkFaultChance: random.pick([0, 0, 0.1]),
        outage: random.chance(0.1) ? span(5 * minuteMs) : undefined,
      },
      service: this.service,
      timeoutMs,
      // When a caller gives up, its key is unknown at once, and `unknown: 'send'` sends the job again.
      mayOverlap: sendsUnknown && abortChance > 0,
      report: (violation) => this.report(violation),
    });
    this.store = new ModelStore(time, random, {
      outages: random.chance(0.25) ? [span(minuteMs), span(5 * minuteMs)] : [],
      outage: random.pick(['refuses', 'hangs', 'loses']),
      slowChance: random.pick([0, 0, 0.05]),
      faultChance: random.pick([0, 0, 0.1]),
    });
    this.#processes = random.pick([1, 1, 2, 2, 3]);
    const deaths = random.pick([0, 0, 1, 2, 4]);
    this.#deaths = Array.from({ length: deaths }, () => random.whole(1, 25 * deaths)).sort(
      (one, other) => one - other,
    );
  }

  wrap(store: JournalStore): JournalStore {
    return this.#bug.wrap?.(store, this.time) ?? store;
  }

  carry(answer: Promise<Response>): Promise<Response> {
    const { time, wishes } = this;
    const lateAt = time.now() + wishes.timeoutMs;
    return this.#bug.carry?.(answer, () => time.now() > lateAt) ?? answer;
  }

  report(violation: string): void {
    this.#violations.add(violation);
  }

  moment(worker: Worker): void {
    if (++this.#moments >= (this.#deaths[0] ?? Infinity)) {
      this.#kill(worker);
    }
  }

  async live(): Promise<Verdict> {
    const { time, random } = this;
    const giveBack = time.rule(() => random.next());
    try {
      for (let number = 0; number < this.#processes; number++) {
        this.#startLater(number === 0 ? 0 : random.next() * minuteMs);
      }
      await this.#until(() => this.#living === 0, 'the runs');
      this.#deaths = [];
      this.network.isCalm = true;
      this.store.isCalm = true;
      const calmAt = time.now() + restMs;
      time.at(calmAt, () => undefined);
      await this.#until(() => time.now() >= calmAt, 'the rest');
      const last = await this.#lastRun();
      if (this.#violations.size === 0) {
        await this.#judge(last);
      }
    } finally {
      giveBack();
    }
    return { violations: [...this.#violations], facts: this.#facts() };
  }

  #startLater(delayMs: number): void {
    this.#living++;
    this.time.after(delayMs, () => {
      const worker = new Worker(this, this.#workers.length);
      this.#workers.push(worker);
      const over = worker.work(false).catch((failure: unknown) => {
        this.report(`a run fails: ${String(failure)}`);
      });
      void Promise.race([over, worker.died]).then(() => {
        this.#living--;
      });
      // Most die by what they do; this one dies while it waits.
      if (this.#deaths.length > 0 && this.random.chance(0.3)) {
        this.time.after(this.random.next() * 3 * minuteMs, () => this.#kill(worker));
      }
    });
  }

  #kill(worker: Worker): void {
    if (worker.isDead || this.#deaths.length === 0) {
      return;
    }
    this.#deaths.shift();
    this.#kills++;
    worker.open.forEach((text) => this.#inHand.add(text));
    worker.kill();
    this.#startLater(this.random.chance(0.5) ? 0 : this.random.next() * 5 * minuteMs);
  }

  async #until(isOver: () => boolean, what: string): Promise<void> {
    await this.time.settle();
    for (let steps = 0; !isOver(); steps++) {
      if (steps > maxSteps || !(await this.time.step())) {
        this.report(`${what}: ${steps > maxSteps ? 'no end' : 'nothing happens any more'}`);
        return;
      }
    }
  }

  async #lastRun(): Promise<Worker> {
    const worker = new Worker(this, this.#workers.length);
    this.#workers.push(worker);
    const run = { isOver: false };
    worker.work(true).then(
      () => Object.assign(run, { isOver: true }),
      (failure: unknown) => this.report(`the last run fails: ${String(failure)}`),
    );
    await this.#until(() => run.isOver || this.#violations.size > 0, 'the last run');
    return worker;
  }

  // ---- the promises

  async #judge(last: Worker): Promise<void> {
    this.#checkBilling();
    this.#checkLimits();
    for (const item of this.items) {
      const ends = this.ends.filter((end) => end.item === item && end.worker === last);
      this.#checkOutcomes(item);
      if (item.way === 'plain') {
        continue;
      }
      if (ends.length !== 1) {
        this.report(`${item.text} has ${ends.length} ends in the last run`);
      } else {
        this.#checkEnd(ends[0]!);
      }
    }
    await this.#checkIds(last);
  }

  /** Nothing is made twice under a key, unless the caller asked for it. */
  #checkBilling(): void {
    const { sendsUnknown, retriesFailed } = this.wishes;
    for (const { text, way } of this.items) {
      const made = this.#madeOf(text);
      made.slice(1).forEach((one, index) => {
        const { end, endsAt, fileId } = made[index]!;
        const hasFailed = end !== 'success' && endsAt <= one.at;
        // Somebody knows, once an id was written under its key; a claim that comes late may keep it from there.
        const isKnown = this.store.troubles.length === 0 && this.#isWritten(fileId, one.at);
        const isAsked = (retriesFailed && hasFailed) || (sendsUnknown && !isKnown);
        if (way === 'plain' || !isAsked) {
          this.report(`${text} is made again as ${one.fileId}`);
        }
      });
    }
  }

  /** A process by itself never meets a refusal of the service's limits. */
  #checkLimits(): void {
    if (this.#processes === 1 && this.#kills === 0 && this.service.limited > 0) {
      this.report(`the service refused ${this.service.limited} calls for its limits`);
    }
  }

  #checkEnd({ item: { text }, fileId, error }: End): void {
    const made = this.#madeOf(text);
    const file = made.find((one) => one.fileId === fileId);
    if (fileId !== undefined && !file) {
      this.report(`${text} has the file of another job`);
    }
    const { outcome, name = '' } = isPostreelError(error) ? error : {};
    const hasFailed = /^Generation(Failed|Canceled)Error$/.test(name);
    if (error === undefined || hasFailed) {
      if (file && (file.end === 'success') === hasFailed) {
        this.report(`${text} ends as ${name}, its file as ${file.end}`);
      }
    } else if (outcome === 'unknown') {
      const isOnce = !this.wishes.sendsUnknown && !this.wishes.retriesFailed;
      if (isOnce && made.some((one) => this.#isWritten(one.fileId, this.time.now()))) {
        this.report(`${text} is unknown, and its id was told`);
      }
      if (this.wishes.sendsUnknown ? !this.#refused.has(text) : !this.#isInDoubt(text)) {
        this.report(`${text} is unknown for no reason: ${reasonOf(error)}`);
      }
    } else if (!this.#refused.has(text) || made.length > 0) {
      this.report(`${text} ends as ${outcome}, made ${made.length} times: ${reasonOf(error)}`);
    }
  }

  /** Jobs that were not sent, or were rejected, were not made by this run. */
  #checkOutcomes({ text }: Item): void {
    for (const { item, worker, error, fileId, since, at } of this.ends) {
      const outcome = isPostreelError(error) ? error.outcome : undefined;
      const isNo = outcome === 'not-sent' || outcome === 'rejected';
      const isMade = this.network.calls.some(
        (call) =>
          call.worker === worker &&
          call.sentAt >= since &&
          call.sentAt <= at &&
          call.made.includes(text),
      );
      if (item.text === text && isNo && fileId === undefined && isMade) {
        this.report(`${text} ends as ${outcome}, and was made: ${reasonOf(error)}`);
      }
    }
  }

  /** Each file that was made is known: to a caller, to the journal, or its job is unknown. */
  async #checkIds(last: Worker): Promise<void> {
    const listed = new Set<string>();
    const reading = { isOver: false };
    void last.media.journal.pending().then(({ unknown }) => {
      unknown.flatMap(({ jobs }) => jobs).forEach((job) => listed.add(textOf(job)));
      reading.isOver = true;
    });
    await this.#until(() => reading.isOver, 'the list of what is pending');
    const results = new Set(this.ends.map(({ fileId }) => fileId));
    const unknown = this.ends.filter(({ error }) => isUnknown(error)).map(({ item }) => item.text);
    for (const { fileId, text } of this.service.made) {
      if (results.has(fileId) || this.store.holds(`"${fileId}"`)) {
        continue;
      }
      const isTold = this.#isWritten(fileId, this.time.now());
      const isSaid = unknown.includes(text) || listed.has(text) || this.wishes.sendsUnknown;
      if (isTold || !isSaid) {
        this.report(`${fileId} of ${text} is lost, ${isTold ? 'and was told' : 'and not unknown'}`);
      }
    }
  }

  #madeOf(text: string) {
    return this.service.made.filter((one) => one.text === text);
  }

  /** Had the worker that heard of a file the time, and the store, to write its id before? */
  #isWritten(fileId: string, before: number): boolean {
    return this.network.told.some(
      (told) => told.made.fileId === fileId && this.#canBeWritten(told, before),
    );
  }

  #canBeWritten({ worker, at }: Told, before: number): boolean {
    const troubles = this.store.troubles.filter(
      (trouble) => trouble > at - 10_000 && trouble < at + 2 * minuteMs,
    );
    const isOutLong = troubles.some((trouble) => trouble > at + 50_000);
    // A write that fails is tried again, 80 seconds later for the last time.
    const neededMs = troubles.length === 0 ? 10_000 : 2 * minuteMs;
    return !isOutLong && Math.min(worker.diedAt, before) > at + neededMs;
  }

  /** May anybody not know what became of it? */
  #isInDoubt(text: string): boolean {
    const calls = this.network.calls.filter(({ texts }) => texts.includes(text));
    const isLost = calls.some(
      ({ end, texts }) =>
        end === 'open' || end === 'lost' || (end === 'refused' && texts.length > 1),
    );
    return isLost || this.#inHand.has(text) || this.store.troubles.length > 0;
  }

  #facts(): Facts {
    const { network, store, service } = this;
    const isLate = ({ worker, made, at }: Told) =>
      at > made.at + this.wishes.timeoutMs && worker.diedAt > at;
    return {
      jobs: this.items.length,
      calls: network.calls.length,
      kills: this.#kills,
      lostAnswers: network.calls.filter(({ end }) => end === 'lost' || end === 'open').length,
      lateAnswers: network.told.filter(isLate).length,
      storeTroubles: store.troubles.length / 2,
      refusedByLimit: service.limited,
      unknown: this.ends.filter(({ error }) => isUnknown(error)).length,
    };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'no error';
}

function isUnknown(error: unknown): boolean {
  return isPostreelError(error) && error.outcome === 'unknown';
}

function itemsOf(random: Random): Item[] {
  const ways: readonly Item['way'][] = random.pick([
    ['queue'],
    ['once'],
    ['queue', 'once'],
    ['queue', 'once', 'plain'],
  ]);
  return Array.from({ length: random.whole(2, 12) }, (_, index): Item => {
    const text = `job ${index}`;
    const isAudio = random.chance(0.15);
    const job: MediaJob = isAudio
      ? { content: text, voiceId: 'voice_1' }
      : { workflowType: 'idea', prompt: text, voiceId: 'voice_1', duration: random.whole(1, 3) };
    return { text, job, way: random.pick(ways) };
  });
}

function wishesOf(random: Random): Wishes {
  return {
    sendsUnknown: random.chance(0.1),
    retriesFailed: random.chance(0.1),
    isKeyedByContent: random.chance(0.3),
    saves: random.chance(0.3),
    pendingLimit: random.pick([20, 3, 4, 6]),
    timeoutMs: random.pick([8_000, 30_000, 120_000]),
    abortChance: random.pick([0, 0, 0.2]),
  };
}
