export type { Answer, Call, ListOptions, RequestOptions, Safe } from './contract/call.js';
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
export type * from './errors/index.js';
export type * from './errors/wait-errors.js';
export type * from './errors/webhook-error.js';
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  PostreelError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  UnprocessableError,
  isApiError,
  isPostreelError,
} from './errors/index.js';
export {
  GenerationCanceledError,
  GenerationFailedError,
  JobFailedError,
  WaitError,
  WaitTimeoutError,
} from './errors/wait-errors.js';
export { WebhookVerificationError } from './errors/webhook-error.js';
export type * from './media/index.js';
export {
  GenerationJob,
  LongAudioError,
  MediaClient,
  MediaFile,
  MediaPool,
  memoryJournal,
} from './media/index.js';
export type * from './messaging/index.js';
export {
  MessagingClient,
  and,
  clear,
  defineTemplate,
  evaluateFilter,
  filters,
  matches,
  or,
  transient,
  where,
} from './messaging/index.js';
export type { JobUpdate, JobWaitOptions } from './polling/job.js';
export type { RecordWaitOptions } from './polling/record.js';
export type { ApiKey } from './transport/auth/api-key.js';
export type { FreeInput } from './transport/request/custom-request.js';
export type { RateLimit, RateLimitState } from './transport/rate-limit/budget.js';
