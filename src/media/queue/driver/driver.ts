import { callSafely } from '../../../core/async.js';
import { reasonOf } from '../../../core/errors.js';
import type { MediaJob } from '../../generate/media-job.js';
import type { GenerationJob, JobRecord } from '../../jobs/job.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import type { QueueInput } from '../input/intake.js';
import { QueueCalls } from './calls.js';
import { FileChecks } from './file-checks.js';
import { durationText } from '../../status/intervals.js';
import { answersLost, callsHeld, errorOf, givenUp } from './failures.js';
import type { QueueHost } from '../host.js';
import type { QueueOptions, QueueResult } from '../options.js';
import { step } from '../scheduler.js';
import type { JobEnd, QueueCommand } from '../steps/commands.js';
import type { QueueEvent, Seen } from '../steps/events.js';
import type { Entry, RunningJob } from '../steps/jobs.js';
import { initialState, type QueueRules, type QueueState, type World } from '../steps/state.js';

/** What a driver works with. */
export interface DriverParts {
  readonly host: QueueHost;
  readonly options: QueueOptions;
  readonly rules: QueueRules;
  /** The jobs, by their place in the input. */
  readonly inputs: ReadonlyMap<number, QueueInput>;
}

/** What a driver reports to its queue. */
export interface DriverListener {
  /** `name` is what the job is called in the journal. */
  onResult(result: QueueResult, name: string | undefined): void;
  /** Something has changed. */
  onChange(): void;
  onEnd(failure: { readonly reason: unknown } | undefined): void;
}

/** Runs the scheduler: brings it what happens, and does what it says. */
export class QueueDriver {
  readonly #host: QueueHost;
  readonly #options: QueueOptions;
  readonly #inputs: ReadonlyMap<number, QueueInput>;
  readonly #listener: DriverListener;
  readonly #calls: QueueCalls;
  readonly #checks: FileChecks;
  readonly #controller = new AbortController();
  readonly #stopListening: () => void;
  readonly #handles = new Map<string, GenerationJob>();
  readonly #events: QueueEvent[] = [];
  #state: QueueState;
  #before: QueueState;
  #isStepping = false;
  #stopTimer: () => void = () => undefined;

  constructor({ host, options, rules, inputs }: DriverParts, listener: DriverListener) {
    this.#host = host;
    this.#options = options;
    this.#inputs = inputs;
    this.#listener = listener;
    this.#state = initialState(rules);
    this.#before = this.#state;
    const { signal } = this.#controller;
    this.#checks = new FileChecks(host, signal);
    this.#calls = new QueueCalls({
      host,
      signal,
      retriesFailed: options.retryFailed ?? false,
      folderId: options.folderId,
      inputs: (entries) => this.#jobsOf(entries),
      dispatch: (event) => this.dispatch(event),
      adopt: (records) => records.forEach((record) => this.#handle(record)),
    });
    this.#stopListening = host.slots.onChange(() => this.dispatch({ type: 'wake' }));
  }

  get state(): QueueState {
    return this.#state;
  }

  get isStopped(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The job of a file that has just been finished, for estimates. */
  last(
    index: number,
  ): { readonly minutes: number; readonly startedAt: number | undefined } | undefined {
    const { running, saving } = this.#before;
    const job = saving.get(index) ?? running.get(index);
    return job && { minutes: job.entry.minutes, startedAt: job.startedAt };
  }

  /** The jobs that were submitted and have no result. */
  get running(): GenerationJob[] {
    return [...this.#handles.values()];
  }

  /** Brings an event to the scheduler. */
  dispatch(event: QueueEvent): void {
    if (this.isStopped || this.#state.isOver) {
      return;
    }
    this.#events.push(event);
    if (this.#isStepping) {
      return;
    }
    this.#isStepping = true;
    for (let next = this.#events.shift(); next; next = this.#events.shift()) {
      this.#step(next);
    }
    this.#isStepping = false;
    this.#listener.onChange();
  }

  /** Learns what the journal knows of jobs before they are followed. */
  learn(known: Iterable<readonly [string | undefined, KnownJob | undefined]>): void {
    this.#calls.learn(known);
  }

  /** Stops at once. What is in progress goes on, and keeps its slots for a while. */
  stop(): void {
    if (this.isStopped) {
      return;
    }
    this.#stopTimer();
    this.#stopListening();
    const running = [...this.#state.running.values()];
    this.#host.slots.abandon(running.map(({ job }) => job.fileId));
    this.#controller.abort();
  }

  #step(event: QueueEvent): void {
    const { state, commands } = step(this.#state, event, this.#world());
    this.#before = this.#state;
    this.#state = state;
    this.#stopTimer();
    for (const command of commands) {
      this.#obey(command);
    }
    this.#host.slots.renew();
  }

  #world(): World {
    const { clock, slots, checksCount } = this.#host;
    const now = clock.now();
    return {
      now,
      freeSlots: slots.free,
      takenSlots: slots.taken,
      othersSlots: slots.others,
      maxAcceptedSlots: slots.maxAccepted,
      nextSlotAt: slots.nextAt,
      otherFiles: slots.otherFiles,
      callAt: this.#host.callAt(now),
      checksCount,
    };
  }

  #obey(command: QueueCommand): void {
    const { slots, clock } = this.#host;
    switch (command.type) {
      case 'submit':
        void this.#calls.submit(command.entries, command.atLeast);
        break;
      case 'recall-call':
        this.#calls.recall();
        break;
      case 'check':
        command.fileIds.forEach((fileId) => void this.#check(fileId));
        break;
      case 'find':
        void this.#find(command.names);
        break;
      case 'save':
        void this.#save(command.job, command.entry);
        break;
      case 'yield':
        this.#yield(command.entry, command.end);
        break;
      case 'assign-slots':
        this.#calls.assignSlots(command.fileIds, command.uncertain);
        break;
      case 'hold':
        slots.hold([command.fileId]);
        break;
      case 'release':
        slots[command.isCertain ? 'release' : 'abandon']([command.fileId]);
        break;
      case 'slots':
        slots.learn(command.evidence, command.slotsAfter);
        break;
      case 'report-wait':
        this.#host.reportWait(command.waitMs, this.#state.waiting.length);
        break;
      case 'held':
      case 'outage':
      case 'outage-end':
        this.#warn(command);
        break;
      case 'wake':
        this.#stopTimer = clock.at(command.at, () => this.dispatch({ type: 'wake' }));
        break;
      case 'end':
        this.#stopListening();
        this.#listener.onEnd(command.isGivenUp ? { reason: answersLost() } : undefined);
    }
  }

  #warn(command: Extract<QueueCommand, { type: 'held' | 'outage' | 'outage-end' }>): void {
    const host = this.#host;
    if (command.type === 'held') {
      host.warn(callsHeld(command.ms), 'UNKNOWN_OUTCOMES');
    } else if (command.type === 'outage') {
      host.warn(`${sentence(command.error)} The queue goes on once it is over.`);
    } else {
      host.warn(`The outage is over after ${durationText(command.ms)}. The queue goes on.`);
    }
  }

  #jobsOf(entries: readonly Entry[]): MediaJob[] {
    return entries.flatMap(({ index }) => {
      const input = this.#inputs.get(index);
      return input ? [input.job] : [];
    });
  }

  #handle(record: JobRecord): GenerationJob {
    const handle = this.#handles.get(record.fileId) ?? this.#host.handle(record);
    this.#handles.set(record.fileId, handle);
    return handle;
  }

  async #check(fileId: string): Promise<void> {
    const jobs = this.#jobsWith(fileId);
    const seen = await this.#checks.check(fileId, jobs[0]);
    if (this.isStopped) {
      return;
    }
    if (jobs.length === 0) {
      this.#noteOther(fileId, seen);
      return;
    }
    const last = this.#checks.last(fileId);
    for (const { entry, job: record } of jobs) {
      const update = last && { index: entry.index, job: this.#handle(record), ...last };
      callSafely(() => update && this.#options.onUpdate?.(update));
    }
    this.dispatch({ type: 'checked', fileId, seen });
  }

  /** The jobs that follow a file: a service may answer an equal job with the file that it has. */
  #jobsWith(fileId: string): RunningJob[] {
    const { running, saving } = this.#state;
    return [...running.values(), ...saving.values()].filter(({ job }) => job.fileId === fileId);
  }

  // A file of others that is over gives its slot to the queue.
  #noteOther(fileId: string, seen: Seen): void {
    const isGone = seen.type === 'refused' && seen.about === 'file';
    if (seen.type === 'success' || seen.type === 'failed' || isGone) {
      this.#host.slots.forget(fileId);
    }
  }

  async #find(names: readonly string[]): Promise<void> {
    try {
      const found = await this.#host.find(names, this.#options.retryFailed ?? false);
      this.#calls.learn(found);
      this.dispatch({ type: 'names-found', found });
    } catch (error) {
      this.dispatch({ type: 'unread', error }); // the journal is asked again before long
    }
  }

  async #save(record: JobRecord, entry: Entry): Promise<void> {
    const { save } = this.#options;
    const { fileId } = record;
    const file = this.#checks.file(fileId);
    const input = this.#inputs.get(entry.index)?.given;
    const job = this.#handle(record);
    let error: unknown;
    if (!file) {
      error = this.#checks.noDownload(fileId);
    } else if (save && input && !this.#calls.saved.has(entry.name ?? '')) {
      error = await this.#checks
        .saved(fileId, (current) => save(current, { index: entry.index, input, job }))
        .then(
          () => undefined,
          (reason: unknown) => reason ?? new Error('The file was not saved.'),
        );
      if (error === undefined) {
        await this.#host.settle(fileId, entry.name);
      }
    }
    this.dispatch({ type: 'saved', index: entry.index, error });
  }

  #yield({ index, name }: Entry, end: JobEnd): void {
    const { given: input } = this.#inputs.get(index) as QueueInput; // each entry has its input
    const job = end.job && this.#handle(end.job);
    const fileId = job?.fileId ?? '';
    const file = end.type === 'file' ? this.#checks.file(fileId) : undefined;
    const error = this.#errorOf(end, job);
    if (this.#jobsWith(fileId).length === 0) {
      this.#handles.delete(fileId);
      this.#checks.forget(fileId);
    }
    const result = job && file ? { index, input, job, file } : { index, input, job, error };
    this.#listener.onResult(result, name);
  }

  #errorOf(end: JobEnd, handle: GenerationJob | undefined): unknown {
    if (end.type === 'error') {
      return end.error;
    }
    if (end.type === 'given-up') {
      return givenUp(end.reason);
    }
    if (end.type === 'file') {
      return new TypeError('a file has an address');
    }
    const { status, checks } = this.#checks.summary(handle?.fileId);
    return errorOf(end, handle, { status, checks });
  }
}

function sentence(error: unknown): string {
  return `An outage: ${reasonOf(error).replace(/\.$/, '')}.`;
}
