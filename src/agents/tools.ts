import { campaignPlans } from './campaign-plans.js';
import { contactPlans } from './contact-plans.js';
import { fileTools } from './files.js';
import { mailPlans } from './mail-plans.js';
import { mediaPlans } from './media-plans.js';
import { rowTools } from './reads.js';
import { CommandEnd } from '../cli/exit-codes.js';
import type { Tool } from './tool.js';

/** Every tool except `carry_out`, which handles the plans themselves. */
export const tools: readonly Tool[] = [
  ...rowTools,
  ...fileTools,
  ...mailPlans,
  ...contactPlans,
  ...campaignPlans,
  ...mediaPlans,
];

/** The tools that a server offers. */
export interface ToolChoice {
  /** Offer only the tools with these names. */
  readonly only?: readonly string[] | undefined;
  /** Offer only tools that change nothing, neither on this machine nor at the services. */
  readonly isReadOnly?: boolean | undefined;
}

/** Selects tools; throws if a name is unknown. */
export function toolsFor({ only, isReadOnly = false }: ToolChoice): readonly Tool[] {
  // `carry_out` is offered whenever a plan tool is, whether or not it is named.
  const names = ['carry_out', ...tools.map(({ name }) => name)];
  const unknown = only?.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new CommandEnd('usage', `There is no tool ${unknown}. There are ${names.join(', ')}.`);
  }
  return tools.filter((tool) => {
    const isRead = tool.kind === 'read' && tool.writesFile !== true;
    return (only?.includes(tool.name) ?? true) && (isRead || !isReadOnly);
  });
}
