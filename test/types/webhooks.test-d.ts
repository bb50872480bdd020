import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request as ExpressRequest, Response as ExpressResponse } from 'express';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WaitOptions } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import {
  createInbox,
  signWebhookUrl,
  verifyWebhook,
  type CallbackParts,
  type Inbox,
  type InboxOptions,
  type SeenStore,
  type VerifiedWebhook,
  type WebhookInbox,
  type WebhookProblem,
  type WebhookResult,
  type WebhookVerificationError,
} from 'postreel/webhooks';

it('signs an address with a secret, and never without', () => {
  expectTypeOf(signWebhookUrl).returns.toEqualTypeOf<Promise<string>>();
  expectTypeOf(signWebhookUrl).parameter(0).toEqualTypeOf<string | URL>();
  expectTypeOf<{ secret: string; expiresIn: number }>().toExtend<
    Parameters<typeof signWebhookUrl>[1]
  >();
  expectTypeOf<{ expiresIn: number }>().not.toExtend<Parameters<typeof signWebhookUrl>[1]>();
});

it('verifies a Fetch request, or the parts of another one', () => {
  expectTypeOf(verifyWebhook).parameter(0).toEqualTypeOf<Request | CallbackParts>();
  expectTypeOf(verifyWebhook).returns.toEqualTypeOf<Promise<VerifiedWebhook>>();
  expectTypeOf<VerifiedWebhook>().toExtend<WebhookResult>();
  expectTypeOf<VerifiedWebhook['nonce']>().toEqualTypeOf<string>();
  expectTypeOf<WebhookVerificationError['code']>().toEqualTypeOf<WebhookProblem>();
  expectTypeOf<'EXPIRED' | 'REPLAYED' | 'SIGNATURE_INVALID'>().toExtend<WebhookProblem>();
});

it('tells the two endings of a file apart', () => {
  expectTypeOf<WebhookResult['status']>().toEqualTypeOf<'success' | 'error'>();
  expectTypeOf<WebhookResult['url']>().toEqualTypeOf<string | undefined>();
});

it('has a handler for every kind of server', () => {
  type Node = WebhookInbox['node'];
  expectTypeOf<Node>().toExtend<(request: IncomingMessage, response: ServerResponse) => unknown>();
  expectTypeOf<Node>().toExtend<(request: ExpressRequest, response: ExpressResponse) => unknown>();
  expectTypeOf<Node>().toExtend<(request: FastifyRequest, reply: FastifyReply) => unknown>();
  expectTypeOf<WebhookInbox['fetch']>().toEqualTypeOf<(request: Request) => Promise<Response>>();
});

it('makes an inbox that a wait takes', () => {
  expectTypeOf(createInbox).parameter(0).toEqualTypeOf<InboxOptions>();
  expectTypeOf(createInbox).returns.toEqualTypeOf<WebhookInbox>();
  expectTypeOf<WebhookInbox>().toExtend<Inbox>();
  expectTypeOf<WebhookInbox>().toExtend<WaitOptions['inbox']>();
  expectTypeOf<{ confirm: true }>().not.toExtend<InboxOptions>(); // the secret is missing
  expectTypeOf<(nonce: string) => boolean>().toExtend<SeenStore['release']>();
});
