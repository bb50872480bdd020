import { abortSignal, readOptions } from '../core/options.js';
import type { Inbox, WebhookResult } from '../core/types.js';
import { ResultCache } from './result-cache.js';
import {
  partsOf,
  sendAnswer,
  type NodeReply,
  type NodeRequest,
  type NodeResponse,
} from './receive/node.js';
import { inboxOptions, createReceiver, type InboxOptions } from './receive/receive.js';
import { secretsOf } from './sign/secret.js';
import { expiryOptions, signWebhookUrl, type ExpiryOptions } from './sign/sign.js';

/** Called with each callback. If it throws or rejects, the callback can be accepted again. */
export type WebhookListener = (result: WebhookResult) => unknown;

/** Receives the callbacks of audio jobs. `fetch` and `node` need no `this`. */
export interface WebhookInbox extends Inbox {
  /** Signs an address for the callback of one job. */
  url(base: string | URL, options?: ExpiryOptions): Promise<string>;
  /** Answers a callback on servers with Fetch requests: Hono, Next.js, Bun, Deno, workers. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Answers a callback on node:http, Express (with or without a body parser) and Fastify. */
  readonly node: (request: NodeRequest, response: NodeResponse | NodeReply) => Promise<void>;
  /** Calls a listener with every callback; returns the function that removes the listener. */
  on(listener: WebhookListener): () => void;
}

/**
 * Creates an inbox for the callbacks of audio jobs. It refuses addresses that `inbox.url()` did not
 * sign.
 * @example
 * const inbox = createInbox({ secret });
 * app.post('/media-done', inbox.node);
 * const webhook = await inbox.url('https://shop.example/media-done');
 * const { fileId } = await media.generate.audio({ content: 'Hi!', voiceId: 'voice_1', webhook });
 * const { url } = await inbox.wait(fileId);
 */
export function createInbox(given: InboxOptions): WebhookInbox {
  const options = readOptions(given, inboxOptions, {
    name: '`createInbox()`',
    example: '{ secret }',
  });
  const { secret } = options;
  secretsOf(secret);
  const results = new ResultCache();
  const listeners = new Set<WebhookListener>();
  const receive = createReceiver(options, async (result) => {
    results.put(result);
    await callListeners(listeners, result);
  });
  return {
    url: async (base, own) => {
      const { expiresIn } = readOptions(own, expiryOptions, {
        name: '`inbox.url()`',
        example: '{ expiresIn: 3_600_000 }',
      });
      return signWebhookUrl(base, { secret, expiresIn });
    },
    wait: async (fileId, own) => {
      const { signal } = readOptions(
        own,
        { signal: abortSignal },
        {
          name: '`inbox.wait()`',
          example: '{ signal }',
        },
      );
      return results.wait(fileId, signal);
    },
    on(listener) {
      // Wrap the listener, so that the same one can be added twice.
      const own: WebhookListener = (result) => listener(result);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async fetch(request) {
      const { status, headers, text } = await receive(request.method, request);
      return new Response(text ?? null, { status, headers });
    },
    async node(request, response) {
      const { method, ...parts } = partsOf(request);
      sendAnswer(request, response, await receive(method, parts));
    },
  };
}

/** Calls every listener, even when one before it fails. */
async function callListeners(
  listeners: ReadonlySet<WebhookListener>,
  result: WebhookResult,
): Promise<void> {
  const ends = await Promise.allSettled(
    [...listeners].map(async (listener) => {
      await listener(result);
    }),
  );
  const failures = ends.flatMap((end) =>
    end.status === 'rejected' ? [end.reason as unknown] : [],
  );
  if (failures.length > 1) {
    throw new AggregateError(failures, 'Several listeners failed.');
  }
  if (failures.length > 0) {
    throw failures[0];
  } // rethrows the error unchanged
}
