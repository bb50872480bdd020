import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { spawn } from 'node:child_process';
import type { ApprovalPage } from './approval-page.js';
import { planLifetimeMs, textOf, type Ask, type PlanStore, type Plan } from './plans.js';

/**
 * If there is no answer after this time, the page opens as well: a client may announce a question and not
 * show it.
 */
export const unansweredMs = 20_000;

/**
 * An answer within this time is ignored: nobody reads a plan so fast, so the host has answered by itself.
 * Hosts that answer without a person need a few milliseconds, people more than a second.
 */
export const hostAnswerMs = 300;

/** The dependencies of {@link askPerson}. */
export interface AskOptions {
  readonly mcp: McpServer;
  readonly planStore: PlanStore;
  readonly page: ApprovalPage;
  /** Aborts when the server stops: from then on no page opens. */
  readonly stopped: AbortSignal;
  /** Opens a file in the person's browser; resolves to the reason if that fails. */
  readonly open: (file: string) => Promise<string | undefined>;
}

/**
 * Asks a person about each plan once: in their client if it can ask; on the approval page if the client
 * cannot, if it cancels, fails or answers by itself, or if no answer comes. The model is not asked. The page
 * opens in the browser only once, because it shows later plans too.
 */
export function askPerson(options: AskOptions): Ask {
  const { host, redirect } = options.page;
  const places = new Map<string, 'client' | 'page'>();
  let openedFor: string | undefined;
  let failure: string | undefined;

  function showPage(plan: Plan): void {
    const isOpen = plan.state === 'waiting' && !options.stopped.aborted;
    if (places.get(plan.id) === 'page' || !isOpen) {
      return;
    }
    places.set(plan.id, 'page');
    if (openedFor === undefined && 'file' in redirect) {
      openedFor = plan.id;
      void options.open(redirect.file).then((reason) => {
        failure = reason;
      });
    }
  }

  function placeOf(plan: Plan): string {
    if (places.get(plan.id) !== 'page') {
      return 'by their client';
    }
    if ('problem' in redirect) {
      return `nowhere: their client does not ask them, and the page cannot be opened without a temporary file (${redirect.problem}). Set TMPDIR to a folder that can be written, and start the server again`;
    }
    const page = `on a page of their machine, ${host}`;
    if (failure !== undefined) {
      return `${page}, which did not open in a browser (${failure}): tell them to open the file ${redirect.file}`;
    }
    return openedFor === plan.id
      ? `${page}, which opens in their browser`
      : `${page}, which was opened in their browser before: if it is closed, tell them to open the file ${redirect.file}`;
  }

  return (plan) => {
    if (!places.has(plan.id)) {
      places.set(plan.id, 'client');
      void askOnce(plan, options, () => showPage(plan));
    }
    return () => placeOf(plan);
  };
}

async function askOnce(
  plan: Plan,
  { mcp: { server }, planStore }: AskOptions,
  openPage: () => void,
): Promise<void> {
  const { elicitation } = server.getClientCapabilities() ?? {};
  // A client that declares `{}` supports forms; one that declares only `url` does not.
  const hasForms =
    elicitation !== undefined && ('form' in elicitation || Object.keys(elicitation).length === 0);
  if (!hasForms) {
    openPage();
    return;
  }
  const timer = setTimeout(openPage, unansweredMs);
  const askedAt = performance.now();
  try {
    const answer = await elicit(server, plan);
    const isByPerson = performance.now() - askedAt >= hostAnswerMs;
    if (answer !== undefined && isByPerson) {
      planStore.answer(plan.id, plan.fingerprint, answer);
      return;
    }
  } catch {
    // The client failed, or the server is stopping, or the plan was decided elsewhere. In the last two cases
    // no page opens.
  } finally {
    clearTimeout(timer);
  }
  openPage();
}

/**
 * Asks the person by a form in the client; resolves to `undefined` if the person or the client closed the
 * form.
 */
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

/**
 * Opens a file with the program of the person's desktop. Resolves when that program has ended, to the reason
 * if it failed.
 */
export function openBrowser(file: string): Promise<string | undefined> {
  const browser = browserCommandOf(process.env, process.platform);
  if (browser === undefined) {
    return Promise.resolve('BROWSER is none');
  }
  const { command, args, env } = browser;
  return new Promise((resolve) => {
    const child = spawn(command, [...args, file], { detached: true, stdio: 'ignore', env });
    child.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ENOENT' ? `there is no ${command}` : error.message);
    });
    child.once('exit', (code, signal) => {
      resolve(code === 0 ? undefined : `${command} ended with ${code ?? String(signal)}`);
    });
    child.unref();
  });
}

/**
 * The command that opens a file. `BROWSER` names another program than the default, or `none`. The program
 * gets no keys in its environment.
 */
export function browserCommandOf(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform) {
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
