/** @module postreel */
export { WebhookVerificationError, type WebhookProblem } from './core/errors.js';
export * from './media/index.js';
export * from './messaging/index.js';
