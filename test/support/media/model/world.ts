import {
  memoryJournal,
  type AcknowledgingSource,
  type JournalStore,
  type MediaJob,
  type QueueOptions,
  type QueueProgress,
  type QueueResult,
  type RateBudgetStore,
  isPostreelError,
  pendingJobs,
} from 'postreel';
import { GenerationJob, type JobRecord } from '../../../../src/media/jobs/job.js';
import { MediaFile } from '../../../../src/media/jobs/file.js';
import { OutstandingJobs } from '../../../../src/media/jobs/outstanding.js';
import { MediaJournal } from '../../../../src/media/jobs/journal.js';
import { submit, type SendHooks, type Submission } from '../../../../src/media/jobs/submit.js';
import type { QueueHost } from '../../../../src/media/queue/host.js';
import { EngineInput } from '../../../../src/media/queue/input/engine-input.js';
import { JobQueue } from '../../../../src/media/queue/queue.js';
import { PendingSlots } from '../../../../src/media/queue/slots/slots.js';
import { RunningCall } from '../../../../src/core/call.js';
import { ModelEngine } from './engine.js';
import { Random } from './random.js';
import { dying, modelJournal, modelStore, utf8Store, type StoreHabit } from './store.js';
import { HostileService, promptOf, type Habits } from './service.js';
import { VirtualTime } from './time.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const maxWorldMs = 60 * hourMs;
const maxStepsInMinute = 20_000;

/** Puts a bug into the parts of a world; only a test does. */
export interface Bug {
  readonly name: string;
  journal?(store: JournalStore): JournalStore;
  submit?(submission: Submission, time: VirtualTime): Submission;
  slots?(slots: PendingSlots): void;
  host?(host: QueueHost): void;
  source?(source: AcknowledgingSource): AcknowledgingSource;
}

/** What went wrong in a world; empty when nothing did. */
export async function violationsIn(seed: number, bug?: Bug): Promise<string[]> {
  return new World(seed, bug).run();
}

/** One run of a queue, in a process of its own. */
interface Run {
  readonly results: QueueResult[];
  readonly stop: AbortController;
  isOver: boolean;
  failure: unknown;
  waiting: number;
  slots: PendingSlots | undefined;
  queue?: JobQueue;
  /** May it make no more calls until it is told to? */
  isHeld?: boolean;
}

class World {
  readonly #time = new VirtualTime();
  readonly #random: Random;
  readonly #service: HostileService;
  readonly #written: JournalStore;
  /** A call waits for a journal that does not answer: that is a reason. */
  readonly #isJournalReliable: boolean;
  readonly #bug: Bug | undefined;
  readonly #jobs: MediaJob[];
  readonly #violations: string[] = [];
  readonly #runs: Run[] = [];
  readonly #isNamed: boolean;
  readonly #saves: boolean;
  /** Are the jobs named by their prompts, whatever these hold? */
  readonly #hasKeys: boolean;
  /** Where the jobs come from, unless it is a list. */
  readonly #engine: ModelEngine | undefined;
  #isSaveHanging = false;
  /** Does each process have a key of its own, since the last one was replaced? */
  readonly #rotates: boolean;
  /** When the intent to submit a job was written, and the jobs whose call left. */
  readonly #intents = new Map<string, number>();
  readonly #left = new Set<string>();
  #crashedAt: number | undefined;
  readonly #limit: number;
  readonly #storeHabit: StoreHabit;
  readonly #store: RateBudgetStore | undefined;
  /** The last sign of life: a call, an event, a check, a result. */
  #lastSignAt = 0;
  #callsAt: number[] = [];
  /** Has the last call been refused, or not been answered? */
  #isInDoubt = false;
  #idleSince: number | undefined;

  constructor(seed: number, bug: Bug | undefined) {
    const random = new Random(seed);
    this.#random = random;
    this.#bug = bug;
    const habits = habitsOf(random);
    this.#service = new HostileService(this.#time, random, habits);
    const memory = { ...memoryJournal(), now: () => Promise.resolve(this.#time.now()) };
    const journal = random.chance(0.5) ? utf8Store(memory) : memory;
    this.#hasKeys = random.chance(0.5);
    const written = modelJournal(bug?.journal?.(journal) ?? journal, this.#time, random);
    this.#written = written.store;
    this.#isJournalReliable = written.isReliable;
    this.#isNamed = random.chance(0.7);
    this.#saves = random.chance(0.3);
    this.#limit = 20;
    // Hours of checks for many jobs would only repeat themselves.
    const usualJobs = random.chance(0.05) ? 100 : 40; // some learn from the first jobs
    const maxJobs = habits.maxMs > 20 * minuteMs ? 4 : usualJobs;
    this.#jobs = jobsOf(random, random.whole(1, maxJobs));
    const isEngine = this.#isNamed && habits.maxMs <= 10 * minuteMs && random.chance(0.3);
    this.#engine = isEngine ? new ModelEngine(this.#jobs, this.#time, random) : undefined;
    this.#storeHabit = random.pick(['none', 'none', 'good', 'slow', 'hangs', 'fails', 'lies']);
    this.#store = modelStore(this.#storeHabit, this.#time, random);
    this.#rotates = random.chance(0.3);
  }

  async run(): Promise<string[]> {
    this.#start();
    await this.#time.settle();
    const crashAt = this.#random.chance(0.4) ? this.#random.next() * 30 * minuteMs : Infinity;
    const overlapAt = this.#random.chance(0.2) ? this.#random.next() * 10 * minuteMs : Infinity;
    let hasCrashed = !this.#isNamed;
    let hasOverlap = !this.#isNamed;
    let stepsNow = 0;
    while (this.#runs.some(({ isOver }) => !isOver)) {
      const now = this.#time.now();
      if (!hasCrashed && now >= crashAt) {
        hasCrashed = true;
        this.#crash();
      }
      if (!hasOverlap && now >= overlapAt) {
        hasOverlap = true;
        this.#start();
      }
      if (!(await this.#time.step())) {
        this.#report('f: nothing keeps the process alive while the queue waits');
        break;
      }
      this.#checkIdle();
      stepsNow =
        Math.floor(this.#time.now() / minuteMs) > Math.floor(now / minuteMs) ? 0 : stepsNow + 1;
      if (stepsNow > maxStepsInMinute) {
        this.#report('h: the queue spins while hardly any time passes');
        break;
      }
      if (this.#time.now() > maxWorldMs) {
        this.#report('g: the queue waits for ever');
        break;
      }
    }
    await this.#check();
    return this.#violations;
  }

  #start(): void {
    const run: Run = {
      results: [],
      stop: new AbortController(),
      isOver: false,
      failure: undefined,
      waiting: 0,
      slots: undefined,
    };
    this.#runs.push(run);
    const host = this.#host(run);
    const options = {
      signal: run.stop.signal,
      onProgress: ({ waiting }: QueueProgress) => {
        run.waiting = waiting;
      },
      ...(this.#isNamed && { name: 'model', ...(this.#hasKeys && { key: promptOf }) }),
      ...(this.#saves && { save: () => this.#save(), deadline: 50 * hourMs }),
    };
    const queue = this.#queue(run, options, host);
    run.queue = queue;
    void (async () => {
      try {
        for await (const result of queue) {
          this.#sign();
          run.results.push(result);
        }
      } catch (failure) {
        run.failure = failure;
      }
      run.isOver = true;
    })();
  }

  #queue(run: Run, options: QueueOptions, host: QueueHost): JobQueue {
    const open = () => Promise.resolve([host]);
    if (!this.#engine) {
      return new JobQueue(this.#shuffled(), options, open);
    }
    const source = this.#engine.source(
      () => run.stop.signal.aborted,
      () => this.#sign(),
      (job, outcome) => this.#checkFailure(job, outcome),
    );
    const input = new EngineInput(
      this.#bug?.source?.(source) ?? source,
      { concurrency: this.#limit },
      () => this.#sign(),
      this.#time,
    );
    const naming = { queue: 'engine', jobOf: (job: MediaJob) => input.idOf(job), mayRecur: true };
    return new JobQueue(input, options, open, naming);
  }

  // (j) A try is counted for what the service said to a job, not to others.
  #checkFailure(job: MediaJob, outcome: string | undefined): void {
    const prompt = promptOf(job);
    if (outcome !== 'unknown' && !this.#left.has(prompt)) {
      this.#report(`j: ${prompt} failed as ${String(outcome)}, and was never sent`);
    }
  }

  // Somebody looks after it in time, or comes too late.
  #hold(run: Run): void {
    run.isHeld = true;
    const resume = () => {
      run.isHeld = false;
      run.queue?.resume();
    };
    if (this.#random.chance(0.9)) {
      this.#time.after(this.#random.next() * 9 * minuteMs, resume);
    }
  }

  async #save(): Promise<void> {
    await this.#time.sleep(this.#random.next() * 5_000);
    if (this.#random.chance(0.02)) {
      this.#isSaveHanging = true; // the caller's own, until the deadline
      return new Promise(() => undefined);
    }
    if (this.#random.chance(0.05)) {
      throw new Error('the disk is full');
    }
  }

  // A crash: nothing of the old process is heard of again, and another one starts, at once or later.
  #crash(): void {
    const [run] = this.#runs;
    if (!run || run.isOver) {
      return;
    }
    if (this.#engine && this.#random.chance(0.5)) {
      run.queue?.drain(); // a stop by SIGTERM
      this.#start();
      return;
    }
    run.stop.abort('crash');
    run.isOver = true;
    this.#crashedAt = this.#time.now();
    const laterMs = this.#random.chance(0.5) ? 0 : this.#random.next() * hourMs;
    const stay: Run = {
      results: [],
      stop: new AbortController(),
      isOver: false,
      failure: undefined,
      waiting: 0,
      slots: undefined,
    };
    this.#runs.push(stay);
    this.#time.after(laterMs, () => {
      stay.isOver = true;
      this.#start();
    });
  }

  #shuffled(): MediaJob[] {
    return this.#runs.length > 1 && this.#random.chance(0.5)
      ? this.#jobs.map(
          (job) => Object.fromEntries(Object.entries(job).reverse()) as unknown as MediaJob,
        )
      : this.#jobs;
  }

  #host(run: Run): QueueHost {
    const slots = new PendingSlots({
      limit: this.#limit,
      clock: this.#time,
      store: this.#store,
      group: 'model',
      others: new OutstandingJobs(),
    });
    run.slots = slots;
    this.#bug?.slots?.(slots);
    const isDead = () => run.stop.signal.aborted;
    const journal = this.#isNamed ? this.#journalOf(isDead) : undefined;
    const host: QueueHost = {
      clock: this.#time,
      slots,
      owner: () => Promise.resolve(this.#keyOf(run)),
      checksCount: false,
      callAt: () => this.#callAt(),
      callsMs: () => 0,
      submit: (jobs, { names, retriesFailed, signal }) => {
        const send = (hooks: SendHooks) =>
          new RunningCall((state) => this.#send(jobs, state, run, { ...hooks, signal }));
        const owner = () => Promise.resolve(this.#keyOf(run));
        const submission = { jobs, names, retriesFailed, owner, send };
        const events = { emit: () => undefined };
        return submit(this.#bug?.submit?.(submission, this.#time) ?? submission, journal, events);
      },
      handle: (record: JobRecord) =>
        new GenerationJob(record, {
          appUrl: undefined,
          status: () => {
            throw new Error('not in this world');
          },
          waitForFile: () => Promise.reject(new Error('not in this world')),
        }),
      check: async (fileId) => {
        await this.#time.sleep(20 + this.#random.next() * 200);
        this.#sign();
        return { fileId, ...this.#service.check(fileId, this.#keyOf(run)) };
      },
      report: () => this.#sign(),
      reportUnknown: () => undefined,
      clean: (text) => text,
      file: (fileId, url) => new MediaFile(fileId, url, { fetch: undefined }),
      problem: () => undefined,
      nameOf: (queue, job) => journal?.nameOf(queue, job) ?? job,
      find: (names, retriesFailed) =>
        journal?.find(names, retriesFailed) ?? Promise.resolve(new Map()),
      settle: async (fileId, name) => journal?.settle(fileId, 'saved', name),
      flush: async () => journal?.flush(),
      reportWait: () => this.#sign(),
      warn: (_, code) => {
        this.#sign();
        if (code === 'UNKNOWN_OUTCOMES') {
          this.#hold(run);
        }
      },
    };
    this.#bug?.host?.(host);
    return host;
  }

  // A process of its own: it remembers nothing of others, and when it has died it writes nothing more.
  #journalOf(isDead: () => boolean): MediaJournal {
    const journal = new MediaJournal({
      store: dying(this.#written, isDead),
      scope: 'model',
      clock: this.#time,
      keepMs: Number.POSITIVE_INFINITY,
      onTrouble: () => undefined,
    });
    const claim = journal.claim.bind(journal);
    journal.claim = async (id, claims, facts) => {
      const note = () =>
        claims.forEach(({ job }) => this.#intents.set(promptOf(job), this.#time.now()));
      note(); // a crash may come before the journal answers
      const taken = await claim(id, claims, facts);
      note();
      return taken;
    };
    return journal;
  }

  #keyOf(run: Run): string {
    return this.#rotates ? `key ${this.#runs.indexOf(run)}` : 'key';
  }

  async #send(
    jobs: readonly MediaJob[],
    state: { outcome?: 'not-sent' | 'rejected' | 'unknown' | undefined },
    run: Run,
    { beforeSending, signal }: SendHooks & { readonly signal: AbortSignal },
  ) {
    const isDead = () => run.stop.signal.aborted;
    state.outcome = 'not-sent';
    await beforeSending?.();
    if (isDead()) {
      return new Promise<never>(() => undefined);
    }
    signal.throwIfAborted();
    this.#sign();
    this.#noteCall(jobs.length);
    jobs.forEach((job) => this.#left.add(promptOf(job)));
    if (run.isHeld) {
      this.#report('i: a call after two that were lost in a row');
    }
    try {
      const data = await this.#service.generate(jobs, isDead, this.#keyOf(run));
      if (isDead()) {
        return await new Promise<never>(() => undefined);
      }
      this.#sign();
      this.#isInDoubt = false;
      return { data, response: new Response(null), requestId: undefined };
    } catch (failure) {
      if (isDead()) {
        return new Promise<never>(() => undefined);
      }
      this.#sign();
      state.outcome = isPostreelError(failure) ? failure.outcome : 'not-sent';
      throw failure;
    }
  }

  // (e) for the first run, while it is alone
  #checkIdle(): void {
    const now = this.#time.now();
    const [run] = this.#runs;
    const lastCallAt = this.#callsAt.at(-1) ?? 0;
    const isFree =
      run !== undefined &&
      this.#runs.length === 1 &&
      run.waiting > 0 &&
      (run.slots?.free ?? 0) > 0 &&
      (this.#storeHabit === 'none' || this.#storeHabit === 'good') &&
      this.#isJournalReliable &&
      !this.#isInDoubt &&
      now >= lastCallAt + minuteMs &&
      this.#callAt() <= now;
    this.#idleSince = isFree ? (this.#idleSince ?? now) : undefined;
    if (this.#idleSince !== undefined && now - this.#idleSince > minuteMs) {
      this.#report(`e: idle for ${Math.round((now - this.#idleSince) / 1000)} s`);
    }
  }

  // (d) ten calls in ten minutes, counted with all runs together as a shared store would.
  #callAt(): number {
    const now = this.#time.now();
    const recent = this.#callsAt.filter((at) => at > now - 10 * minuteMs - 30_000);
    return recent.length < 10 ? now : recent[recent.length - 10]! + 10 * minuteMs + 30_000;
  }

  #noteCall(size: number): void {
    const now = this.#time.now();
    this.#callsAt.push(now);
    const inWindow = this.#callsAt.filter((at) => at > now - 10 * minuteMs).length;
    // Each run decides by itself; a shared store would count them together.
    if (inWindow > 10 + this.#runs.length - 1) {
      this.#report(`d: ${inWindow} calls in ten minutes`);
    }
    const pending = this.#service.pendingAsTold;
    if (pending + size > this.#limit && this.#runs.length === 1) {
      this.#report(`d: ${size} jobs beside ${pending} that are pending`);
    }
    this.#idleSince = undefined;
    this.#isInDoubt = true;
  }

  #sign(): void {
    const now = this.#time.now();
    const isAlone = this.#runs.length === 1 && !this.#isSaveHanging;
    if (now - this.#lastSignAt > 3 * minuteMs && isAlone) {
      this.#report(`g: silent for ${Math.round((now - this.#lastSignAt) / 1000)} s`);
    }
    this.#lastSignAt = now;
  }

  async #check(): Promise<void> {
    this.#checkBilling();
    this.#checkIntents();
    await this.#checkIds();
    this.#checkEnds();
    const most = this.#service.calls.filter(({ size }) => size > this.#limit).length;
    if (most > 0) {
      this.#report('d: a call with more jobs than slots');
    }
  }

  // (a)
  #checkBilling(): void {
    const isUnnamedAgain = !this.#isNamed && this.#runs.length > 1;
    for (const job of this.#jobs) {
      const times = this.#service.acceptedTimes(promptOf(job));
      if (times > 1 && !isUnnamedAgain) {
        this.#report(`a: ${promptOf(job)} was accepted ${times} times`);
      }
    }
  }

  // (k) An intent is written right before its call: only a crash between the two leaves doubt, or a journal
  // that wrote it and did not answer.
  #checkIntents(): void {
    if (!this.#isJournalReliable) {
      return;
    }
    for (const { input, error } of this.#runs.flatMap(({ results }) => results)) {
      const prompt = promptOf(input);
      const isUnknown = isPostreelError(error) && error.outcome === 'unknown';
      const intentAt = this.#intents.get(prompt) ?? 0;
      const isBetween = (this.#crashedAt ?? Infinity) - intentAt < 30_000;
      if (isUnknown && this.#isNamed && !this.#left.has(prompt) && !isBetween) {
        this.#report(`k: ${prompt} is unknown, and never left`);
      }
    }
  }

  // (b)
  async #checkIds(): Promise<void> {
    const { jobs, unknown } = await pendingJobs(this.#written);
    const known = new Set(jobs.map(({ fileId }) => fileId));
    for (const { results } of this.#runs) {
      for (const { job, error } of results) {
        const { fileIds = [] } = (error ?? {}) as { fileIds?: readonly string[] };
        for (const fileId of [job?.fileId, ...fileIds]) {
          if (fileId !== undefined) {
            known.add(fileId);
          }
        }
      }
    }
    // Two faults at once: a journal that did not take an id, and a crash before it was asked again.
    const isInDoubt = !this.#isJournalReliable && this.#crashedAt !== undefined;
    const inDoubt = new Set(isInDoubt ? unknown.flatMap((call) => call.jobs.map(promptOf)) : []);
    for (const fileId of this.#service.told) {
      if (!known.has(fileId) && !inDoubt.has(this.#service.files.get(fileId)?.prompt ?? '')) {
        this.#report(`b: ${fileId} is lost`);
      }
    }
  }

  // (c), for each run that came to its end
  #checkEnds(): void {
    if (this.#engine) {
      this.#checkEngine(this.#engine);
      return;
    }
    const last = this.#runs.at(-1)!;
    // A write that no retry could make is an error, told as that.
    const isGivenUp = !this.#isJournalReliable && hasCode(last.failure, 'JOURNAL_UNAVAILABLE');
    if (isGivenUp || (last.isHeld && hasCode(last.failure, 'UNKNOWN_OUTCOMES'))) {
      return;
    }
    if (last.failure !== undefined) {
      this.#report(`c: the queue failed: ${JSON.stringify(last.failure)}`);
    }
    const ends = new Set(last.results.map(({ index }) => index));
    if (ends.size !== this.#jobs.length || last.results.length !== this.#jobs.length) {
      this.#report(`c: ${last.results.length} results for ${this.#jobs.length} jobs`);
    }
    for (const { input, file } of last.results) {
      const made = file && this.#service.files.get(file.fileId);
      if (made && made.prompt !== promptOf(input)) {
        this.#report(`c: ${promptOf(input)} got the file of ${made.prompt}`);
      }
    }
  }

  #checkEngine(engine: ModelEngine): void {
    const hasEnded = this.#runs.some(({ failure }) => failure !== undefined);
    const isGivenUp = hasEnded || this.#isSaveHanging;
    for (const item of engine.items) {
      const { id, state, fileId = '', outcome } = item;
      const prompt = promptOf(item.job);
      if ((state === 'waiting' || state === 'active') && !isGivenUp) {
        this.#report(`j: job ${id} of the engine is ${state} at the end`);
      }
      if (state === 'done' && this.#service.files.get(fileId)?.prompt !== prompt) {
        this.#report(`c: ${prompt} of the engine got the file of another job`);
      }
      if (state === 'failed' && outcome !== undefined && this.#service.acceptedTimes(prompt) > 0) {
        this.#report(`j: ${prompt} failed as ${outcome}, and was billed`);
      }
      if (engine.isPoison(item) && this.#service.acceptedTimes(prompt) > 0) {
        this.#report(`j: ${prompt} cannot be read, and was billed`);
      }
    }
  }

  #report(violation: string): void {
    if (!this.#violations.includes(violation)) {
      this.#violations.push(violation);
    }
  }
}

function hasCode(failure: unknown, code: string): boolean {
  return isPostreelError(failure) && failure.code === code;
}

function habitsOf(random: Random): Habits {
  const isCalm = random.chance(0.3);
  return {
    cap: random.chance(0.5) ? 20 : random.whole(3, 25),
    capStatus: random.pick([400, 402, 403, 409, 429, 429, 429, 503]),
    capSaysWhy: random.chance(0.5),
    capRetryAfterMs: random.chance(0.3) ? random.whole(1, 10) * 30_000 : undefined,
    // Hours are checked every ten seconds: fewer worlds of them make room for more others.
    maxMs: random.chance(0.05)
      ? 3 * hourMs
      : random.pick([5_000, minuteMs, minuteMs, 4 * minuteMs, 4 * minuteMs, 10 * minuteMs]),
    lossChance: isCalm ? 0 : random.pick([0, 0.05, 0.3]),
    partialChance: isCalm ? 0 : random.pick([0, 0, 0.1]),
    failChance: random.pick([0, 0.1]),
    checkFaultChance: isCalm ? 0 : random.pick([0, 0.05, 0.2]),
    numericIds: random.chance(0.2),
    refusedPrompts: new Set(random.chance(0.2) ? [`job ${random.whole(0, 10)}`] : []),
    makesHalf: random.chance(0.3),
    refusesRequest: random.chance(0.04),
    refusesKeyAfter: random.chance(0.04) ? random.next() * hourMs : Number.POSITIVE_INFINITY,
    outage: random.chance(0.2)
      ? { from: random.whole(1, 30) * minuteMs, to: (random.whole(1, 30) + 60) * minuteMs }
      : undefined,
    othersEat: random.chance(0.15) ? random.whole(1, 19) : 0,
    stalls: random.chance(0.05),
  };
}

function jobsOf(random: Random, count: number): MediaJob[] {
  return Array.from({ length: count }, (_, index): MediaJob => {
    const prompt = `job ${index}${random.chance(0.05) ? '\ud83d\0' : ''}`;
    if (random.chance(0.1)) {
      return { content: prompt, voiceId: 'voice_1' };
    }
    const duration = 1 + random.whole(0, 8);
    return { workflowType: 'idea', workflowFormat: 'video', voiceId: 'v', prompt, duration };
  });
}
