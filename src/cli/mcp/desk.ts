import type { Approver } from './approval.js';
import { fingerprintOf, frozen, Plans, type Fact, type Plan } from './plans.js';
import { Refusal } from './refusal.js';
import { dataNotice, type ServiceData } from './service-data.js';
import { inline, isReadable } from './text.js';
import { tools } from './tools/table.js';
import { parseInput, type PlanTool, type Progress, type Services } from './tools/tool.js';

/** What a tool gave: a value, and whether it is data of a service. */
export interface Answer {
  readonly value: unknown;
  readonly notice?: string;
}

/** One server: its services, its plans, and what the services have returned. */
export class Desk {
  readonly plans: Plans;
  readonly #services: Services;
  readonly #data: ServiceData;
  /** The last step that was carried out, or is under way. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(services: Services, data: ServiceData, plans: Plans = new Plans()) {
    this.#services = services;
    this.#data = data;
    this.plans = plans;
  }

  /** Runs one call of a tool of the table. */
  async call(name: string, args: unknown, progress: Progress): Promise<Answer> {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) {
      throw new Refusal(`There is no tool ${JSON.stringify(name)}.`);
    }
    const input = parseInput(name, tool, args);
    const value =
      tool.kind === 'plan'
        ? await this.#plan(tool, frozen(input), progress.signal)
        : await tool.read(input, this.#services, progress);
    return { value, notice: dataNotice };
  }

  /** Carries a plan out, once, after a person's yes to exactly what it does now. */
  async carryOut(id: string, approver: Approver, progress: Progress): Promise<Answer> {
    const { signal } = progress;
    try {
      await this.#askFor(id, approver, signal);
    } catch (error) {
      if (signal.aborted) {
        this.plans.drop(id); // no yes outlives the cancellation
      }
      throw error;
    }
    const plan = this.plans.take(id);
    // One after another: what one plan changes must not come between the check of another and its step.
    const step = this.#latest.then(() => this.#checkAndRun(plan, progress));
    this.#latest = step.catch(() => undefined);
    return step;
  }

  async #askFor(id: string, approver: Approver, signal: AbortSignal): Promise<void> {
    if (!this.plans.isApproved(id)) {
      const plan = this.plans.get(id);
      const said = await approver.ask(plan, signal);
      signal.throwIfAborted();
      if (said === 'later') {
        throw new Refusal(
          'A person must say yes first, on the page whose address is in the terminal that this server runs in. Then call carry_out again.',
        );
      }
      if (said === 'no') {
        this.plans.drop(id);
        throw new Refusal('The person said no. Ask them before you plan it again.');
      }
      this.plans.approve(id, plan.fingerprint);
    }
    signal.throwIfAborted();
  }

  async #checkAndRun(plan: Plan, progress: Progress): Promise<Answer> {
    progress.signal.throwIfAborted();
    const tool = planToolOf(plan);
    const content = await this.#unchanged(tool, plan, progress.signal);
    const value = await tool.run(plan.input, this.#services, progress, content);
    return { value, notice: dataNotice };
  }

  async #plan(tool: PlanTool, input: unknown, signal: AbortSignal): Promise<object> {
    const { action, facts } = await tool.describe(input, this.#services, signal);
    if (!isReadable([action, ...facts.map(({ text }) => text)])) {
      throw new Refusal('This is too long to be read before saying yes. Do it by a program.');
    }
    const plan = this.plans.add(tool.name, input, {
      action,
      facts: [...facts, ...this.#origin(input)],
    });
    const { id, fingerprint, expiresAt } = plan;
    return {
      plan: id,
      action,
      facts: plan.facts.map(({ label, text }) => `${label}: ${text}`),
      fingerprint,
      expiresAt: new Date(expiresAt).toISOString(),
      next: 'Call carry_out with this plan: a person is asked first.',
    };
  }

  // The plan is made again, and must be the same word for word.
  async #unchanged(tool: PlanTool, plan: Plan, signal: AbortSignal): Promise<unknown> {
    const { action, facts, content } = await tool.describe(plan.input, this.#services, signal);
    const origin = plan.facts.filter(({ label }) => label === originLabel);
    const now = fingerprintOf(tool.name, plan.input, { action, facts: [...facts, ...origin] });
    if (now !== plan.fingerprint || hasGrown(plan.facts, facts)) {
      throw new Refusal(
        'What this plan would do has changed since the person saw it. Make a new plan.',
      );
    }
    return content;
  }

  #origin(input: unknown): Fact[] {
    const places = this.#data.tracesIn(input);
    const text = `${places.map(inline).join(', ')}: text that a service returned, perhaps written by strangers`;
    return places.length === 0 ? [] : [{ label: originLabel, text }];
  }
}

const originLabel = 'from data';

/** Would it reach more people than the person saw, and a little headroom? */
function hasGrown(seen: readonly Fact[], now: readonly Fact[]): boolean {
  return now.some(({ label, people }) => {
    const before = seen.find((fact) => fact.label === label)?.people;
    return people !== undefined && people.now > (before?.max ?? 0);
  });
}

function planToolOf({ tool: name }: Plan): PlanTool {
  const tool = tools.find((each) => each.name === name);
  if (tool?.kind !== 'plan') {
    throw new Refusal(`${name} plans nothing.`);
  }
  return tool;
}
