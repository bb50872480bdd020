import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { planLifetimeMs, type Plan } from './plans.js';

/** Asks a person about a plan. */
export interface Approver {
  /** `'later'` where the person answers in another place, and the step is called again then. */
  ask(plan: Plan, signal: AbortSignal): Promise<'yes' | 'no' | 'later'>;
}

/** A plan as a person reads it. */
export function textOf({ action, facts, fingerprint }: Plan): string {
  const lines = facts.map(({ label, text }) =>
    text.includes('\n') ? `${label}:\n${text}` : `${label}: ${text}`,
  );
  return [`${action}?`, ...lines, `fingerprint: ${fingerprint}`].join('\n');
}

/** Asks through the program that the person uses the agent in; the model is not asked. */
export function byElicitation({ server }: McpServer): Approver | undefined {
  const { elicitation } = server.getClientCapabilities() ?? {};
  // A client that declares `{}` has forms; one that declares only `url` has none.
  const hasForms =
    elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
  return hasForms ? { ask: (plan, signal) => elicit(server, plan, signal) } : undefined;
}

async function elicit(
  server: McpServer['server'],
  plan: Plan,
  signal: AbortSignal,
): Promise<'yes' | 'no'> {
  const approve = {
    type: 'boolean',
    title: plan.action,
    description: `Yes to exactly the plan ${plan.fingerprint}, once.`,
    default: false,
  } as const;
  const { action, content } = await server.elicitInput(
    {
      mode: 'form',
      message: textOf(plan),
      requestedSchema: { type: 'object', properties: { approve }, required: ['approve'] },
    },
    { signal, timeout: planLifetimeMs },
  );
  return action === 'accept' && content?.['approve'] === true ? 'yes' : 'no';
}
