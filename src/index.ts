/** @module postreel */
export type {
  Answer,
  Call,
  HeadersInput,
  ListOptions,
  RequestOptions,
  Safe,
} from './core/types.js';
export type { ClientOptions, RateLimitOptions, ValidationOptions } from './core/types.js';
export type { DataOptions } from './core/types.js';
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
} from './core/types.js';
export type { Method } from './core/route.js';
export type { ItemIterator, Page, Paginated } from './core/types.js';
export type { BudgetLimits, RateBudgetStore, StoreAnswer } from './core/rate-store.js';
export type {
  Acknowledgement,
  FieldObject,
  FileInput,
  NamedFile,
  NoContainer,
  OpenInput,
  OpenRecord,
  Timestamp,
} from './core/values.js';
export * from './core/errors.js';
export * from './core/errors.js';
export { WebhookVerificationError, type WebhookProblem } from './core/errors.js';
export * from './media/index.js';
export * from './messaging/index.js';
export type { JobUpdate, JobWaitOptions } from './core/wait.js';
export type { RecordWaitOptions } from './core/wait.js';
export type { ApiKey } from './core/types.js';
export type { FreeInput } from './core/types.js';
export type { RateLimit, RateLimitState } from './core/types.js';
