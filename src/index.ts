/** @module postreel */
export type {
  Answer,
  Call,
  HeadersInput,
  ListOptions,
  RequestOptions,
  Safe,
} from './contract/call.js';
export type {
  ClientOptions,
  RateLimitOptions,
  ValidationOptions,
} from './contract/client-options.js';
export type { DataOptions } from './contract/client-options.js';
export type {
  CallEndEvent,
  CallEvent,
  CallStartEvent,
  ClientEvents,
  Logger,
  MismatchEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  ThrottledEvent,
  WarningEvent,
} from './contract/events.js';
export type { Method } from './contract/route.js';
export type { ItemIterator, Page, Paginated } from './contract/paginated.js';
export type { BudgetLimits, RateBudgetStore, StoreAnswer } from './contract/rate-budget-store.js';
export type {
  Acknowledgement,
  FieldObject,
  FileInput,
  NamedFile,
  NoContainer,
  OpenInput,
  OpenRecord,
  Timestamp,
} from './contract/records.js';
export * from './errors/index.js';
export * from './errors/wait-errors.js';
export { WebhookVerificationError, type WebhookProblem } from './errors/client-errors.js';
export * from './media/index.js';
export * from './messaging/index.js';
export type { JobUpdate, JobWaitOptions } from './polling/job.js';
export type { RecordWaitOptions } from './polling/record.js';
export type { ApiKey } from './transport/auth/api-key.js';
export type { FreeInput } from './transport/request/custom-request.js';
export type { RateLimit, RateLimitState } from './transport/rate-limit/budget.js';
