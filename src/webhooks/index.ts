export type { Inbox, WebhookResult } from '../core/types.js';
export {
  WebhookVerificationError,
  type FieldError,
  type Outcome,
  type WebhookProblem,
} from '../core/errors.js';
export type { ReadStatus } from './receive/confirm.js';
export { createInbox, type WebhookInbox, type WebhookListener } from './inbox.js';
export type { NodeReply, NodeRequest, NodeResponse } from './receive/node.js';
export type { InboxOptions } from './receive/receive.js';
export { memorySeen, type SeenStore } from './receive/replay-store.js';
export type { WebhookSecret } from './sign/secret.js';
export { signWebhookUrl, type ExpiryOptions, type SignOptions } from './sign/sign.js';
export {
  verifyWebhook,
  type CallbackParts,
  type VerifiedWebhook,
  type VerifyOptions,
} from './receive/verify.js';
