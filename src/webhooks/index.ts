export type { Inbox, WebhookResult } from '../contract/inbox.js';
export { WebhookVerificationError, type WebhookProblem } from '../errors/index.js';
export type { ReadStatus } from './confirm.js';
export { createInbox, type WebhookInbox, type WebhookListener } from './inbox.js';
export type { NodeReply, NodeRequest, NodeResponse } from './node.js';
export type { InboxOptions } from './receive.js';
export { memorySeen, type SeenStore } from './seen.js';
export { signWebhookUrl, type ExpiryOptions, type SignOptions } from './sign.js';
export {
  verifyWebhook,
  type CallbackParts,
  type VerifiedWebhook,
  type VerifyOptions,
} from './verify.js';
