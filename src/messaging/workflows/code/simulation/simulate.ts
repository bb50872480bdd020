import { isDate } from '../../../../core/values.js';
import {
  evaluateFilter,
  type FilterableContact,
  type MatchOptions,
} from '../../../shared/matches.js';
import type { Span, StepDefinition, WaitForEventStep, WorkflowDefinition } from '../definition.js';
import { checkDefinition } from '../check.js';
import { startOf, stepAt } from '../graph.js';
import { agreesWith, explanationsOf, type ObservedEmail } from './observed.js';

/** A contact to simulate. */
export interface SimulatedContact extends FilterableContact {
  readonly email: string;
}

/** An event that a contact will track. */
export interface SimulatedEvent {
  readonly email: string;
  readonly event: string;
  /** How long after the start. */
  readonly after: Span;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** What to simulate. */
export interface SimulateOptions extends Pick<MatchOptions, 'readGroup' | 'wrong'> {
  /** How many days to look ahead. */
  readonly days: number;
  /**
   * When all contacts enter the workflow.
   * @default now
   */
  readonly start?: Date | undefined;
  /** Events that `WAIT_FOR_EVENT` steps may meet; without any, each wait runs out. */
  readonly events?: readonly SimulatedEvent[] | undefined;
  /** The emails that your service did send: the result says whether, and why, it differs. */
  readonly observed?: readonly ObservedEmail[] | undefined;
}

/** An email that a contact would get. */
export interface SimulatedEmail {
  readonly email: string;
  readonly at: Date;
  /** The key of the step that sends it. */
  readonly step: string;
  readonly template: string | undefined;
  readonly subject: string | undefined;
}

/** How a contact's way through the workflow ended, or where it stands at the end. */
export interface SimulatedRun {
  readonly email: string;
  readonly status: 'completed' | 'waiting';
  /** The keys of the steps that the contact went through, in order. */
  readonly steps: readonly string[];
}

/** What a workflow would do. */
export interface Simulation {
  /** In order of time. */
  readonly emails: readonly SimulatedEmail[];
  readonly runs: readonly SimulatedRun[];
  /** What had to be assumed, because the service's document does not show it. */
  readonly assumptions: readonly string[];
  /** Whether the observed emails are these; `undefined` when none were given. */
  readonly agrees: boolean | undefined;
  /**
   * The smallest sets of assumptions that explain the observed emails if they do not hold. Empty when
   * all is as observed, and when no such set explains it. Give one as `wrong` to simulate your service.
   */
  readonly failed: readonly (readonly string[])[];
}

const unitMs = { minutes: 60_000, hours: 3_600_000, days: 86_400_000 } as const;

/** Works out who would get which email when, without a request. */
export function simulate(
  definition: WorkflowDefinition,
  contacts: readonly SimulatedContact[],
  options: SimulateOptions,
): Simulation {
  checkDefinition(definition);
  const start = options.start ?? new Date();
  const { wrong = [], observed } = options;
  const take = (more: readonly string[]) =>
    walkAll(definition, contacts, { ...options, start, wrong: [...wrong, ...more] });
  const outcome = take([]);
  if (observed === undefined) {
    return { ...outcome, agrees: undefined, failed: [] };
  }
  const endMs = start.getTime() + options.days * unitMs.days;
  const seen = observed.filter(({ at }) => new Date(at).getTime() <= endMs);
  const agrees = agreesWith(outcome.emails, seen);
  const failed = agrees
    ? []
    : explanationsOf(outcome.assumptions, (doubted) => agreesWith(take(doubted).emails, seen));
  return { ...outcome, agrees, failed };
}

function walkAll(
  definition: WorkflowDefinition,
  contacts: readonly SimulatedContact[],
  { start, days, events = [], readGroup, wrong }: SimulateOptions & { readonly start: Date },
): Pick<Simulation, 'emails' | 'runs' | 'assumptions'> {
  const startMs = start.getTime();
  const assumptions = new Set<string>(['every contact enters once, at the start']);
  const plan: SimulationPlan = {
    definition,
    startMs,
    endMs: startMs + days * unitMs.days,
    events,
    readGroup,
    wrong,
    assume(assumption) {
      assumptions.add(assumption);
      return !wrong?.includes(assumption);
    },
  };
  const walks = contacts.map((contact) => new Walk(contact, plan).run());
  const emails = walks.flatMap((walk) => walk.emails).sort((a, b) => +a.at - +b.at);
  return { emails, runs: walks.map(({ result }) => result), assumptions: [...assumptions] };
}

interface SimulationPlan {
  readonly definition: WorkflowDefinition;
  readonly startMs: number;
  readonly endMs: number;
  readonly events: readonly SimulatedEvent[];
  readonly readGroup: MatchOptions['readGroup'];
  readonly wrong: MatchOptions['wrong'];
  /** False when the service is known to do otherwise. */
  readonly assume: (assumption: string) => boolean;
}

/** One contact on its way. */
class Walk {
  readonly emails: SimulatedEmail[] = [];
  readonly #steps: string[] = [];
  readonly #plan: SimulationPlan;
  readonly #email: string;
  #contact: FilterableContact;
  #event: Readonly<Record<string, unknown>>;
  #nowMs: number;
  #isWaiting = false;

  constructor(contact: SimulatedContact, plan: SimulationPlan) {
    this.#plan = plan;
    this.#email = contact.email;
    this.#contact = contact;
    this.#event = { name: plan.definition.trigger.event };
    this.#nowMs = plan.startMs;
  }

  get result(): SimulatedRun {
    const status = this.#isWaiting ? 'waiting' : 'completed';
    return { email: this.#email, status, steps: this.#steps };
  }

  run(): this {
    const { definition } = this.#plan;
    let key = startOf(definition);
    while (key !== undefined) {
      const step = stepAt(definition, key);
      this.#steps.push(key);
      key = step && this.#take(key, step);
    }
    return this;
  }

  /** Does one step; the key of the next one, or `undefined` where the walk ends. */
  #take(key: string, step: StepDefinition): string | undefined {
    switch (step.type) {
      case 'SEND_EMAIL': {
        const { template, subject, next } = step;
        const toAll = this.#plan.assume('emails go to every contact, subscribed or not');
        if (toAll || this.#contact.subscribed !== false) {
          const at = new Date(this.#nowMs);
          this.emails.push({ email: this.#email, at, step: key, template, subject });
        }
        return next;
      }
      case 'DELAY':
        return this.#pauseUntil(this.#nowMs + lengthMs(step)) ? step.next : undefined;
      case 'WAIT_FOR_EVENT':
        return this.#waitForEvent(step) ? step.next : undefined;
      case 'CONDITION':
        return this.#meets(step.if) ? step.yes : step.no;
      case 'WEBHOOK':
        this.#plan.assume('webhooks answer at once and change nothing');
        return step.next;
      case 'UPDATE_CONTACT':
        this.#contact = { ...this.#contact, data: patched(this.#contact.data, step.data) };
        return step.next;
      case 'EXIT':
        return undefined;
    }
  }

  #waitForEvent({ event, timeout }: WaitForEventStep): boolean {
    const { startMs, events, assume } = this.#plan;
    const untilMs = timeout ? this.#nowMs + lengthMs(timeout) : Number.POSITIVE_INFINITY;
    const met = events
      .filter((one) => one.email === this.#email && one.event === event)
      .map((one) => ({ ...one, atMs: startMs + lengthMs(one.after) }))
      .filter(({ atMs }) => atMs > this.#nowMs && atMs < untilMs)
      .sort((a, b) => a.atMs - b.atMs)[0];
    if (met === undefined) {
      const goesOn = assume('after a timeout the workflow goes on with the next step');
      this.#event = {};
      return this.#pauseUntil(untilMs) && goesOn;
    }
    this.#event = { ...met.data, name: event };
    return this.#pauseUntil(met.atMs);
  }

  /** False when the time is beyond what is simulated. */
  #pauseUntil(timeMs: number): boolean {
    this.#isWaiting = timeMs > this.#plan.endMs;
    this.#nowMs = timeMs;
    return !this.#isWaiting;
  }

  #meets(filter: Parameters<typeof evaluateFilter>[0]): boolean {
    const { readGroup, wrong, assume } = this.#plan;
    const result = evaluateFilter(filter, this.#contact, {
      now: new Date(this.#nowMs),
      readGroup,
      wrong,
      read: (field) => {
        const isOfEvent = field.startsWith('event.');
        return isOfEvent && assume('conditions reach fields of the last event as `event.<name>`')
          ? this.#event[field.slice('event.'.length)]
          : undefined;
      },
    });
    for (const assumption of result.assumptions) {
      assume(assumption);
    }
    return result.matches;
  }
}

function lengthMs({ amount, unit }: Span): number {
  return amount * unitMs[unit];
}

// "null: deletes the key", "empty string: ignored", "{ value, persistent: false }: not stored".
function patched(data: object | null | undefined, change: object): object {
  const fields = new Map<string, unknown>(Object.entries(data ?? {}));
  for (const [key, value] of Object.entries(change) as [string, unknown][]) {
    const isTransient = typeof value === 'object' && value !== null && 'persistent' in value;
    if (value === null) {
      fields.delete(key);
    } else if (value !== '' && value !== undefined && !isTransient) {
      fields.set(key, isDate(value) ? value.toISOString() : value);
    }
  }
  return Object.fromEntries(fields);
}
