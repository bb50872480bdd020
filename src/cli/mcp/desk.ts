import { isPostreelError } from 'postreel';
import type { Approver } from './approval.js';
import { fingerprintOf, frozen, Plans, type Fact, type Plan } from './plans.js';
import { Refusal } from './refusal.js';
import { dataNotice, ServiceData } from './service-data.js';
import { inline, isReadable } from './text.js';
import { tools } from './tools/table.js';
import type { PlanTool, Progress, Services, Tool } from './tools/tool.js';

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
    const input = parse(tool, args);
    if (tool.kind === 'plan') {
      return { value: await this.#plan(tool, frozen(input), progress.signal) };
    }
    return this.#fromService(await tool.read(input, this.#services, progress));
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
    const tool = planToolOf(plan);
    await this.#assertUnchanged(tool, plan, signal);
    return this.#fromService(await tool.run(plan.input, this.#services, progress));
  }

  async #plan(tool: PlanTool, input: unknown, signal: AbortSignal): Promise<object> {
    const { action, facts } = await tool.describe(input, this.#services, signal);
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
  async #assertUnchanged(tool: PlanTool, plan: Plan, signal: AbortSignal): Promise<void> {
    const { action, facts } = await tool.describe(plan.input, this.#services, signal);
    const origin = plan.facts.filter(({ label }) => label === originLabel);
    const now = fingerprintOf(tool.name, plan.input, { action, facts: [...facts, ...origin] });
    if (now !== plan.fingerprint) {
      throw new Refusal(
        'What this plan would do has changed since the person saw it. Make a new plan.',
      );
    }
  }

  #origin(input: unknown): Fact[] {
    const places = this.#data.tracesIn(input);
    const text = `${places.map(inline).join(', ')}: text that a service returned, perhaps written by strangers`;
    return places.length === 0 ? [] : [{ label: originLabel, text }];
  }

  #fromService(value: unknown): Answer {
    this.#data.remember(value);
    return { value, notice: dataNotice };
  }
}

const originLabel = 'from data';

/** What a failed call tells the agent: never a stack, a body or a key. */
export function failureOf(error: unknown): string {
  if (isPostreelError(error) && error.outcome === 'unknown') {
    return `${error.message} It may have happened all the same: check before you plan it again.`;
  }
  return error instanceof Error ? error.message : String(error);
}

function parse(tool: Tool, args: unknown): unknown {
  const { success, data, error } = tool.schema.safeParse(args ?? {});
  if (success) {
    return data;
  }
  const issues = error.issues.map(({ path, message }) => `\`${path.join('.')}\` ${message}`);
  throw new Refusal(`The input of ${tool.name} is wrong: ${issues.join('; ')}`);
}

function planToolOf({ tool: name }: Plan): PlanTool {
  const tool = tools.find((each) => each.name === name);
  if (tool?.kind !== 'plan') {
    throw new Refusal(`${name} plans nothing.`);
  }
  return tool;
}
