import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  type CallToolResult,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { askPerson } from '../../../src/agents/approval.js';
import { PlanStore } from '../../../src/agents/plans.js';
import { answerCalls } from '../../../src/agents/server.js';
import { ServiceTexts } from '../../../src/agents/service-texts.js';
import { tools } from '../../../src/agents/tools.js';
import { patienceMs } from '../../../src/agents/files.js';
import type { PlanScene } from './desk.js';

/** Answers an elicitation in place of a client and its person. */
export type Elicits = (message: string) => ElicitResult | Promise<ElicitResult>;

/** The protocol's own client, in one process with a server over the services of a desk. */
export interface Agent {
  readonly client: Client;
  readonly planStore: PlanStore;
  /** The files that were opened in a browser. */
  readonly opened: string[];
  readonly logged: unknown[];
  /** Stops the server as it stops itself. */
  stop(): Promise<void>;
  call(name: string, args?: object, timeout?: number): Promise<CallToolResult>;
  plan(name: string, args: object): Promise<string>;
}

export const page = {
  host: '127.0.0.1:4020',
  url: 'http://127.0.0.1:4020/?token=secret-token',
  redirect: { file: '/tmp/postreel-1/approval-page.html' },
  close: () => Promise.resolve(),
};

/** How a machine differs from the usual one. */
export interface Machine {
  /** Why it opens no browser. */
  readonly noBrowser?: string;
  /** Why it has no temporary file. */
  readonly noFile?: string;
}

/** `elicits: 'not handled'` announces questions and has nothing to show them with; `undefined` announces none. */
export async function openAgent(
  { services, journal }: PlanScene,
  elicits?: Elicits | 'not handled',
  { noBrowser, noFile }: Machine = {},
): Promise<Agent> {
  const mcp = new McpServer(
    { name: 'postreel', version: '1' },
    { capabilities: { tools: {}, logging: {} } },
  );
  const say = (data: string) => void mcp.server.sendLoggingMessage({ level: 'info', data });
  const stopping = new AbortController();
  const stopped = stopping.signal;
  const data = new ServiceTexts();
  const planStore = new PlanStore({
    services,
    serviceTexts: data,
    journal,
    patienceMs,
    stopped,
    onNews: say,
  });
  const opened: string[] = [];
  const open = (file: string) => {
    opened.push(file);
    return Promise.resolve(noBrowser);
  };
  const shown = noFile === undefined ? page : { ...page, redirect: { problem: noFile } };
  const ask = askPerson({ mcp, planStore, page: shown, stopped, open });
  answerCalls(mcp, { planStore, services, tools, log: say, ask, redact: (text) => text });
  const capabilities = elicits === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: 'tests', version: '1' }, { capabilities });
  if (typeof elicits === 'function') {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicits(params.message));
  }
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    logged.push(params.data);
  });
  const [one, other] = InMemoryTransport.createLinkedPair();
  await Promise.all([mcp.connect(one), client.connect(other)]);
  const call = (name: string, args: object = {}, timeout = 60_000) =>
    client.callTool({ name, arguments: { ...args } }, undefined, {
      timeout,
    }) as Promise<CallToolResult>; // as: no task
  return {
    client,
    planStore,
    opened,
    logged,
    stop: () => {
      stopping.abort();
      return mcp.close();
    },
    call,
    plan: async (name, args) => (valueOf(await call(name, args)) as { plan: string }).plan, // as: a plan
  };
}

export const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text; // as: all are texts

/** Returns the text between the marks of an answer. */
export function valueOf(result: CallToolResult): unknown {
  const [, mark = ''] = /the two marks (\w+) is data/.exec(textOf(result)) ?? [];
  const [, json = ''] = textOf(result).split(`\n${mark}\n`);
  return JSON.parse(mark === '' ? JSON.stringify(textOf(result)) : json.replace(`\n${mark}`, ''));
}
