import { createHash, randomBytes } from 'node:crypto';
import type { JournalStore } from 'postreel';
import { toCanonicalJson } from '../core/once/key.js';
import { reasonOf } from '../core/errors.js';
import { isRecord } from '../core/values.js';
import { formatCounts, outcomeOf, PartialResult, unknownError } from './outcomes.js';
import type { ServiceTexts } from './service-texts.js';
import { Steps, type Step } from './steps.js';
import { markAsData, formatInline, isReadable, messageOf, ToolRefusal } from './text.js';
import type { Description, Fact, PlanTool, CallProgress, Services } from './tool.js';

/**
 * A planned step. It runs once, when a person approves it, whether or not a call of the agent waits for its
 * end.
 */
export interface Plan {
  /** Begins with a hash of the tool and its input. */
  readonly id: string;
  readonly action: string;
  readonly facts: readonly Fact[];
  /** The hash of the tool, the input and the description: an approval applies to this fingerprint only. */
  readonly fingerprint: string;
  readonly expiresAt: number;
  /** True once a person has been asked about the plan. */
  readonly isAsked: boolean;
  readonly state: 'waiting' | 'running' | 'ended';
  /** How the plan ended, in words for the person. */
  readonly summary: string;
  /** Resolves to the end of the plan, also when the person refuses it. */
  readonly ended: Promise<PlanEnd>;
}

/** The end of a plan: the result of its step, or the error. */
export type PlanEnd = { readonly value: unknown } | { readonly error: unknown };

interface OpenPlan extends Plan {
  isAsked: boolean;
  state: Plan['state'];
  summary: string;
  readonly tool: PlanTool;
  /** The input of the step, deeply frozen. */
  readonly input: unknown;
  readonly end: (how: PlanEnd) => void;
  /** The number of the agent's calls that wait for the end of the plan. */
  waiting: number;
}

/**
 * Shows a plan to a person, who answers later through {@link PlanStore.answer}. Returns a function that describes
 * where the question is shown, for the agent.
 */
export type Ask = (plan: Plan) => () => string;

/** The dependencies of a {@link PlanStore}. */
export interface PlanStoreOptions {
  readonly services: Services;
  readonly serviceTexts: ServiceTexts;
  /** The journal that stores the steps and the idempotency keys of their calls. */
  readonly journal: JournalStore;
  /** How long a call waits for a person or for a step, in milliseconds. */
  readonly patienceMs: number;
  /** Aborts waits and reads when the server stops. */
  readonly stopped: AbortSignal;
  /** Stores the steps of a rehearsal separately, so that a later plan does not take them for real ones. */
  readonly isRehearsal?: boolean;
  /** Called when a plan has ended and no call waited for its end. */
  readonly onNews?: (text: string) => void;
  readonly now?: () => number;
}

/** How long a plan can be approved. */
export const planLifetimeMs = 60 * 60_000;
const maxPlans = 100;

/** The plans of one server: the agent makes them, a person decides, and each approved plan runs once. */
export class PlanStore {
  readonly #plans = new Map<string, OpenPlan>();
  readonly #options: PlanStoreOptions;
  readonly #steps: Steps;
  readonly #now: () => number;
  #news: string[] = [];
  /** The last step that ran or is running. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(options: PlanStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#steps = new Steps(options.journal, options.isRehearsal);
  }

  /** Plans a step without carrying it out; resolves to the description of the plan for the agent. */
  async plan(tool: PlanTool, args: unknown, signal: AbortSignal): Promise<object> {
    const input = freezeCopy(tool.parse(args));
    // Compute this before `describe()` reads data from the service: only earlier responses count as the
    // origin of the input.
    const origin = this.#describeOrigin(input);
    const description = await tool.describe(input, this.#options.services, signal);
    const { action } = description;
    const inputHash = sha256(toCanonicalJson([tool.name, input])).slice(0, 16);
    const facts = [
      ...description.facts,
      ...describeEarlier(await this.#steps.findByInput(inputHash)),
      ...origin,
    ];
    if (!isReadable([action, ...facts.map(({ text }) => text)])) {
      throw new ToolRefusal(
        'This plan is too long for a person to read before approving it. Do this in a program instead.',
      );
    }
    this.#forgetOld();
    if ([...this.#plans.values()].filter(({ state }) => state === 'waiting').length >= maxPlans) {
      throw new ToolRefusal(
        `${maxPlans} plans are already waiting. Call carry_out for some of them first.`,
      );
    }
    const plan = createPlan({
      id: `${inputHash}-${randomBytes(9).toString('base64url')}`,
      tool,
      input,
      action,
      facts,
      fingerprint: fingerprintOf(tool, input, { action, facts }),
      expiresAt: this.#now() + planLifetimeMs,
    });
    this.#plans.set(plan.id, plan);
    return {
      plan: plan.id,
      action,
      facts: facts.map(({ label, text }) => `${label}: ${text}`),
      fingerprint: plan.fingerprint,
      expiresAt: new Date(plan.expiresAt).toISOString(),
      next: 'Call carry_out with this plan: a person is asked first.',
    };
  }

  /**
   * Asks a person about a plan and resolves to the result of its step. If that takes longer than
   * `patienceMs`, resolves to the state of the plan instead: the agent repeats the call to keep waiting, and
   * gets the same result.
   */
  async carryOut(id: string, ask: Ask, { signal, report }: CallProgress): Promise<unknown> {
    const plan = this.#plans.get(id);
    if (plan === undefined) {
      return this.#resultOf(id);
    }
    let describePlace = () => '';
    if (plan.state === 'waiting') {
      this.#assertFresh(plan);
      plan.isAsked = true;
      describePlace = ask(plan);
    }
    report(
      plan.state === 'waiting'
        ? `waiting for a person, who is asked ${describePlace()}`
        : 'carrying it out',
    );
    plan.waiting += 1;
    const { patienceMs, stopped } = this.#options;
    const ended = await waitAtMost(patienceMs, plan.ended, AbortSignal.any([signal, stopped]));
    plan.waiting -= 1;
    signal.throwIfAborted();
    if (ended && 'error' in ended) {
      throw ended.error;
    }
    return ended
      ? ended.value
      : { plan: id, state: plan.state, next: nextOf(plan, describePlace()) };
  }

  /** Takes a person's decision about the plan with this fingerprint; an approval runs the step at once. */
  answer(id: string, fingerprint: string, answer: 'yes' | 'no'): void {
    const plan = this.#plans.get(id);
    if (plan === undefined) {
      throw new ToolRefusal('There is no such plan any more: nothing was done.');
    }
    if (plan.state !== 'waiting') {
      throw new ToolRefusal('This plan was decided already.');
    }
    this.#assertFresh(plan);
    if (plan.fingerprint !== fingerprint) {
      throw new ToolRefusal(
        'The fingerprint is not that of this plan: the answer was given for another text. Nothing was done.',
      );
    }
    if (answer === 'no') {
      const error = new ToolRefusal('The person said no. Ask them before you plan it again.');
      this.#end(plan, { error }, error.message);
      return;
    }
    plan.state = 'running';
    // Run the steps one after another: a step must not change anything between the check and the step of
    // another plan.
    const step = this.#latest.then(() => this.#checkAndRun(plan));
    this.#latest = step.then(
      (value) =>
        value instanceof PartialResult
          ? this.#end(plan, { value: { partly: value.summary, ...value.result } }, value.summary)
          : this.#end(plan, { value }, 'Done.', true),
      (error: unknown) => this.#end(plan, { error }, messageOf(error)),
    );
  }

  /** The plans that the approval page shows: those a person was asked about, including ended ones. */
  listAsked(): readonly Plan[] {
    return [...this.#plans.values()].filter(
      ({ isAsked, state, expiresAt }) =>
        isAsked && (state !== 'waiting' || expiresAt > this.#now()),
    );
  }

  /**
   * Returns one sentence for each plan that ended while no call of the agent waited for it, and clears the list.
   */
  takeNews(): readonly string[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }

  /** Resolves when no step is running. */
  async waitUntilIdle(): Promise<void> {
    await this.#latest;
  }

  // Describes the step again, and requires the same fingerprint. Then writes the step to the journal, and
  // runs it.
  async #checkAndRun(plan: OpenPlan): Promise<unknown> {
    const { id, tool, input } = plan;
    const { services, stopped } = this.#options;
    this.#assertRunning();
    const again = await tool.describe(input, services, stopped);
    const facts = [
      ...again.facts,
      ...describeEarlier(await this.#steps.findByInput(inputHashOf(id))),
      ...plan.facts.filter(({ label }) => label === originLabel),
    ];
    const now = fingerprintOf(tool, input, { action: again.action, facts });
    if (now !== plan.fingerprint || hasGrown(plan.facts, facts)) {
      throw new ToolRefusal(
        'The effect of this plan has changed since the person approved it, so nothing was done. Make a new plan.',
      );
    }
    this.#assertRunning();
    const at = new Date(this.#now()).toISOString();
    const end = await this.#steps.begin(id, at).catch((error: unknown) => {
      throw new ToolRefusal(
        `The journal cannot be written, so nothing was done: ${reasonOf(error)}`,
      );
    });
    try {
      const run = { once: id, content: again.content, signal: stopped, report: () => undefined };
      const value = await tool.run(input, services, run);
      await end(
        value instanceof PartialResult
          ? { state: 'partly', counts: value.counts, ids: idsIn(value.result) }
          : { state: 'done', ids: idsIn(value) },
      );
      return value;
    } catch (error) {
      const state = outcomeOf(error);
      await end({ state, ids: [] });
      throw state === 'unknown' ? unknownError(error) : error;
    }
  }

  /** The state of a plan of an earlier server process, as the journal has it. */
  async #resultOf(id: string): Promise<object> {
    const step = await this.#steps.find(id);
    const at = step?.at ?? '';
    switch (step?.state) {
      case 'done':
        return { plan: id, state: 'ended', carriedOutAt: at, ids: step.ids };
      case 'partly': {
        const partly = `Partly done: ${formatCounts(step.counts)}.`;
        return { plan: id, state: 'ended', partly, carriedOutAt: at, ids: step.ids };
      }
      case 'running':
      case 'unknown':
        throw new ToolRefusal(
          `This plan started at ${at} and its result was not recorded: it may have happened. Check at the service before you plan it again.`,
        );
      case 'failed':
        throw new ToolRefusal(`This plan failed at ${at} and did nothing. Make a new one.`);
      default:
        throw new ToolRefusal('There is no such plan. Make one with the plan_… tool.');
    }
  }

  #end(plan: OpenPlan, how: PlanEnd, summary: string, isWhole = false): void {
    plan.state = 'ended';
    plan.summary = summary;
    plan.end(how);
    if (plan.waiting === 0) {
      const what = isWhole ? 'was carried out' : 'was refused, failed, or was carried out in part';
      const text = `Plan ${plan.id} (${plan.action}) ${what}. Call carry_out for the result.`;
      this.#news.push(text);
      this.#options.onNews?.(markAsData(text)); // the action may contain a name that a service returned
    }
  }

  #assertRunning(): void {
    if (this.#options.stopped.aborted) {
      throw new ToolRefusal('The server has stopped: nothing was done.');
    }
  }

  #assertFresh({ state, expiresAt }: OpenPlan): void {
    if (state === 'waiting' && expiresAt <= this.#now()) {
      throw new ToolRefusal('This plan is older than an hour: nothing was done. Make a new one.');
    }
  }

  #describeOrigin(input: unknown): Fact[] {
    const places = this.#options.serviceTexts.tracesIn(input);
    const text = `${places.map(formatInline).join(', ')}: text that a service returned, perhaps written by strangers`;
    return places.length === 0 ? [] : [{ label: originLabel, text }];
  }

  // Keeps an expired plan for another hour, so that a late call gets a clear error.
  #forgetOld(): void {
    for (const [id, { expiresAt, state }] of this.#plans) {
      if (state !== 'running' && expiresAt + planLifetimeMs <= this.#now()) {
        this.#plans.delete(id);
      }
    }
  }
}

const originLabel = 'from data';

/** The text of a plan for the person. */
export function textOf({ action, facts, fingerprint }: Plan): string {
  const lines = facts.map(({ label, text }) =>
    text.includes('\n') ? `${label}:\n${text}` : `${label}: ${text}`,
  );
  return [`${action}?`, ...lines, `fingerprint: ${fingerprint}`].join('\n');
}

function createPlan(
  facts: Omit<OpenPlan, 'isAsked' | 'state' | 'summary' | 'ended' | 'end' | 'waiting'>,
): OpenPlan {
  let end: OpenPlan['end'] = () => undefined;
  const ended = new Promise<PlanEnd>((resolve) => {
    end = resolve;
  });
  return { ...facts, isAsked: false, state: 'waiting', summary: '', ended, end, waiting: 0 };
}

function nextOf({ state }: Plan, place: string): string {
  const again = 'Call carry_out with this plan again';
  return state === 'waiting'
    ? `The person has not answered yet. The question is shown ${place}. ${again} to keep waiting; an approval before that call also counts.`
    : `The step is running. ${again} for the result. The step runs only once.`;
}

/** The equal steps in the journal: the person decides whether to repeat them. */
function describeEarlier(steps: readonly Step[]): Fact[] {
  const words = {
    done: 'carried out',
    partly: 'partly done',
    running: 'begun, and its end is not known',
    unknown: 'may have happened',
    failed: '',
  };
  const lines = steps
    .filter(({ state }) => state !== 'failed')
    .map(({ at, state, counts, ids }) => {
      const more = [...(counts ? [formatCounts(counts)] : []), ...ids.map(formatInline)].join(', ');
      return `${at}: ${words[state]}${more && ` (${more})`}`;
    });
  return lines.length === 0
    ? []
    : [{ label: 'the same step before', text: lines.map((line) => `| ${line}`).join('\n') }];
}

/** True if the step would now reach more people than the `max` that the person approved. */
function hasGrown(seen: readonly Fact[], now: readonly Fact[]): boolean {
  return now.some(({ label, people }) => {
    const before = seen.find((fact) => fact.label === label)?.people;
    return people !== undefined && people.now > (before?.max ?? 0);
  });
}

/** The fingerprint that an approval is bound to. Counts of people are left out, because they may change. */
function fingerprintOf({ name }: PlanTool, input: unknown, { action, facts }: Description): string {
  const compared = facts.filter(({ people }) => people === undefined);
  const lines = compared.map(({ label, text }) => [label, text]);
  return sha256(JSON.stringify([name, input, action, lines]));
}

function inputHashOf(id: string): string {
  return id.slice(0, 16);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A deeply frozen JSON copy that no caller can change. */
function freezeCopy(value: unknown): unknown {
  return deepFreeze(JSON.parse(JSON.stringify(value)) as unknown);
}

function deepFreeze(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze);
    Object.freeze(value);
  }
  return value;
}

const maxIds = 50;

// The responses to a sent email and a tracked event have ids in the fields `email`, `contact` and `event`.
const idField = /^(ids?|\w+Ids?|email|contact|event)$/;
/**
 * Fields that are not searched for ids: those filled in by people or agents, whose own field names may look like
 * ids, and the lists of items that failed or are unknown.
 */
const skippedField =
  /^(failed|unknown|data|fields|condition|audienceFilter|steps|transitions|triggerConfig)$/;

/** Collects the ids in a response: no texts, no addresses, and no data about people. */
function idsIn(value: unknown, isId = false): string[] {
  if (typeof value === 'string') {
    return isId && /^[\w-]{1,100}$/.test(value) ? [value] : [];
  }
  if (Array.isArray(value)) {
    return value.flatMap((part) => idsIn(part, isId)).slice(0, maxIds);
  }
  const parts = isRecord(value) ? Object.entries(value) : [];
  return parts
    .filter(([name]) => !skippedField.test(name))
    .flatMap(([name, part]) => idsIn(part, idField.test(name)))
    .slice(0, maxIds);
}

/** Resolves to `undefined` if the promise takes longer than `ms`, or the signal aborts first. */
async function waitAtMost<T>(
  ms: number,
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  let stop: () => void = () => undefined;
  const over = new Promise<undefined>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => resolve(undefined);
    signal.addEventListener('abort', end);
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    };
    if (signal.aborted) {
      end();
    }
  });
  return Promise.race([promise, over]).finally(stop);
}
