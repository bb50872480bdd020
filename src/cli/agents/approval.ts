import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { spawn } from 'node:child_process';
import type { ApprovalPage } from './approval-page.js';
import { planLifetimeMs, textOf, type Ask, type Desk, type Plan } from './plans.js';

/** After so long without an answer the page opens as well: a client may announce a question and not show it. */
export const unansweredMs = 20_000;

/** What asking stands on. */
export interface AskParts {
  readonly mcp: McpServer;
  readonly desk: Desk;
  readonly page: ApprovalPage;
  /** Aborts when the server stops: nothing is opened any more. */
  readonly stopped: AbortSignal;
  /** Shows a file in the person's browser. */
  readonly open: (file: string) => void;
}

/**
 * Asks a person about each plan once: by their client where it can ask; on the page where it cannot, where it
 * cancels or fails, and where no answer comes. The model is not asked.
 */
export function askPerson(parts: AskParts): Ask {
  const places = new Map<string, 'client' | 'page'>();
  return (plan) => {
    if (!places.has(plan.id)) {
      places.set(plan.id, 'client');
      const openPage = () => {
        const isOpen = plan.state === 'waiting' && !parts.stopped.aborted;
        if (places.get(plan.id) === 'client' && isOpen) {
          places.set(plan.id, 'page');
          parts.open(parts.page.file);
        }
      };
      void askOnce(plan, parts, openPage);
    }
    return () =>
      places.get(plan.id) === 'page'
        ? `on a page of their machine, ${parts.page.host}, which opens in their browser`
        : 'by their client';
  };
}

async function askOnce(
  plan: Plan,
  { mcp: { server }, desk }: AskParts,
  openPage: () => void,
): Promise<void> {
  const { elicitation } = server.getClientCapabilities() ?? {};
  // A client that declares `{}` has forms; one that declares only `url` has none.
  const hasForms =
    elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
  if (!hasForms) {
    openPage();
    return;
  }
  const timer = setTimeout(openPage, unansweredMs);
  try {
    const said = await elicit(server, plan);
    if (said !== undefined) {
      desk.decide(plan.id, plan.fingerprint, said);
      return;
    }
  } catch {
    // The client failed, or the server stops; or the plan was decided elsewhere meanwhile, and no page opens for that.
  } finally {
    clearTimeout(timer);
  }
  openPage();
}

/** `undefined` where the person has not decided: they closed the question, or the client did. */
async function elicit(server: McpServer['server'], plan: Plan): Promise<'yes' | 'no' | undefined> {
  const approve = {
    type: 'boolean',
    title: plan.action,
    description: `Yes to exactly the plan ${plan.fingerprint}, once.`,
    default: false,
  } as const;
  const decided = new AbortController();
  void plan.ended.then(() => decided.abort());
  const { action, content } = await server.elicitInput(
    {
      mode: 'form',
      message: textOf(plan),
      requestedSchema: { type: 'object', properties: { approve }, required: ['approve'] },
    },
    { signal: decided.signal, timeout: planLifetimeMs },
  );
  if (action === 'decline' || (action === 'accept' && content?.['approve'] === false)) {
    return 'no';
  }
  return action === 'accept' && content?.['approve'] === true ? 'yes' : undefined;
}

/** Opens a file as the person's desktop does. */
export function openBrowser(file: string): void {
  const browser = browserFor(process.env, process.platform);
  if (browser === undefined) {
    return;
  }
  const { command, args, env } = browser;
  const child = spawn(command, [...args, file], { detached: true, stdio: 'ignore', env });
  child.on('error', () => undefined); // there is none: the person opens the page themselves
  child.unref();
}

/** What opens a file: `BROWSER` names another program than the usual one, or `none`. It gets no key. */
export function browserFor(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform) {
  const { BROWSER: own } = environment;
  if (own === 'none') {
    return undefined;
  }
  const usual: Readonly<Record<string, readonly string[]>> = {
    darwin: ['open'],
    win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  };
  const [command = '', ...args] = own ? [own] : (usual[platform] ?? ['xdg-open']);
  const kept = Object.entries(environment).filter(([name]) => !/^(MESSAGING|MEDIA)_/i.test(name));
  return { command, args, env: Object.fromEntries(kept) };
}
