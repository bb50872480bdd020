import { isPostreelError } from 'postreel';
import type { Approver } from './approval.js';
import { fingerprintOf, frozen, Plans, type Description, type Fact, type Plan } from './plans.js';
import { Refusal } from './refusal.js';
import { dataNotice, ServiceData } from './service-data.js';
import { inline, isReadable } from './text.js';
import { tools } from './tools/table.js';
import { parseInput, type PlanTool, type Progress, type Services } from './tools/tool.js';

/** What a tool gave: a value, and whether it is data of a service. */
export interface Answer {
  readonly value: unknown;
  readonly notice?: string;
}

/** One server: its services, its plans, and the texts that the services have returned. */
export class Desk {
  readonly plans: Plans;
  readonly #services: Services;
  readonly #data = new ServiceData();
  /** The last step that was carried out, or is under way. */
  #latest: Promise<unknown> = Promise.resolve();

  constructor(services: Services, plans: Plans = new Plans()) {
    this.#services = services;
    this.plans = plans;
  }

  /** Runs one call of a tool of the table. */
  async call(name: string, args: unknown, progress: Progress): Promise<Answer> {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) {
      throw new Refusal(`There is no tool ${JSON.stringify(name)}.`);
    }
    const input = parseInput(name, tool, args);
    if (tool.kind === 'plan') {
      return { value: await this.#plan(tool, frozen(input), progress.signal) };
    }
    return this.#fromService(() => tool.read(input, this.#services, progress));
  }

  /** Carries a plan out, once, after a person's yes to exactly what it does now. */
  async carryOut(id: string, approver: Approver, progress: Progress): Promise<Answer> {
    const { signal } = progress;
    if (!this.plans.isApproved(id)) {
      const plan = this.plans.get(id);
      const said = await approver.ask(plan, signal);
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
    const plan = this.plans.take(id);
    // One after another: what one plan changes must not come between the check of another and its step.
    const step = this.#latest.then(() => this.#checkAndRun(plan, progress));
    this.#latest = step.catch(() => undefined);
    return step;
  }

  async #checkAndRun(plan: Plan, progress: Progress): Promise<Answer> {
    progress.signal.throwIfAborted();
    const tool = planToolOf(plan);
    const content = await this.#unchanged(tool, plan, progress.signal);
    return this.#fromService(() => tool.run(plan.input, this.#services, progress, content));
  }

  async #plan(tool: PlanTool, input: unknown, signal: AbortSignal): Promise<object> {
    const { action, facts } = await this.#describe(tool, input, signal);
    if (!isReadable(facts.map(({ text }) => text))) {
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
    const { action, facts, content } = await this.#describe(tool, plan.input, signal);
    const origin = plan.facts.filter(({ label }) => label === originLabel);
    const now = fingerprintOf(tool.name, plan.input, { action, facts: [...facts, ...origin] });
    if (now !== plan.fingerprint) {
      throw new Refusal(
        'What this plan would do has changed since the person saw it. Make a new plan.',
      );
    }
    return content;
  }

  async #describe(tool: PlanTool, input: unknown, signal: AbortSignal): Promise<Description> {
    return this.#noteFailure(() => tool.describe(input, this.#services, signal));
  }

  #origin(input: unknown): Fact[] {
    const places = this.#data.tracesIn(input);
    const text = `${places.map(inline).join(', ')}: text that a service returned, perhaps written by strangers`;
    return places.length === 0 ? [] : [{ label: originLabel, text }];
  }

  async #fromService(work: () => Promise<unknown>): Promise<Answer> {
    const value = await this.#noteFailure(work);
    this.#data.remember(value);
    return { value, notice: dataNotice };
  }

  // The message of a failure may quote the service.
  async #noteFailure<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isPostreelError(error)) {
        this.#data.remember(error.message);
      }
      throw error;
    }
  }
}

const originLabel = 'from data';

function planToolOf({ tool: name }: Plan): PlanTool {
  const tool = tools.find((each) => each.name === name);
  if (tool?.kind !== 'plan') {
    throw new Refusal(`${name} plans nothing.`);
  }
  return tool;
}
