import { isRecord } from '../validate.js';
import type { WebhookCall } from '../state.js';
import type { Outcome, Run } from './run.js';

/** Calls the address of a WEBHOOK step through `settings.webhookFetch`, and records the call. */
export function callWebhook(run: Run, config: Readonly<Record<string, unknown>>): Outcome {
  const call = describe(run, config);
  run.scope.project.webhooks.push(call);
  const { webhookFetch } = run.scope.world.settings;
  if (webhookFetch === undefined) {
    call.status = 200;
    return { go: 'on' };
  }
  return { go: 'call', call: () => perform(webhookFetch, call) };
}

function describe(run: Run, config: Readonly<Record<string, unknown>>): WebhookCall {
  const { url, method = 'POST', headers, body } = config;
  if (typeof url !== 'string') {
    throw new Error('A WEBHOOK step needs `url`.');
  }
  return {
    workflowId: run.workflow.id,
    executionId: run.execution.id,
    url,
    method: String(method),
    headers: { 'content-type': 'application/json', ...stringsOf(headers) },
    body: body ?? defaultBody(run),
    at: run.scope.world.clock.date(),
  };
}

/** Payload of a webhook: not shown. */
function defaultBody({ workflow, execution, contact }: Run): unknown {
  const { id, email, subscribed, data } = contact;
  return structuredClone({
    workflowId: workflow.id,
    executionId: execution.id,
    contact: { id, email, subscribed, data },
    context: execution.context,
  });
}

async function perform(webhookFetch: typeof fetch, call: WebhookCall): Promise<void> {
  const { url, method, headers, body } = call;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const init = { method, headers, ...(hasBody && { body: JSON.stringify(body) }) };
  const response = await webhookFetch(url, init);
  call.status = response.status;
  // What a failed call does to its execution is not shown: it ends there.
  if (!response.ok) {
    throw new Error(`The webhook ${url} answered with ${response.status}.`);
  }
}

function stringsOf(headers: unknown): Record<string, string> {
  const entries = isRecord(headers) ? Object.entries(headers) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
