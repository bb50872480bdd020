/** @module postreel */
export * from './messaging/index.js';
export * from './media/index.js';

// Errors.
export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  GenerationCanceledError,
  GenerationFailedError,
  InvalidRequestError,
  isApiError,
  isPostreelError,
  JobFailedError,
  NotFoundError,
  PartialError,
  PermissionError,
  PostreelError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  UnprocessableError,
  WaitError,
  WaitTimeoutError,
  WebhookVerificationError,
  type ErrorDetails,
  type FieldError,
  type Outcome,
  type PartialReport,
  type Report,
  type ReportedRow,
  type WebhookProblem,
} from './core/errors.js';

// Calls, and what they take and answer.
export type { Method } from './core/route.js';
export type {
  Answer,
  Call,
  FreeInput,
  HeadersInput,
  ItemIterator,
  ListOptions,
  Page,
  Paginated,
  RequestOptions,
  Safe,
} from './core/types.js';
export type {
  Acknowledgement,
  FieldObject,
  FileInput,
  NamedFile,
  OpenInput,
  OpenRecord,
  Timestamp,
} from './core/values.js';
export type { JobUpdate, JobWaitOptions, RecordWaitOptions } from './core/wait.js';

// Clients, their options and their events.
export type { BudgetLimits, RateBudgetStore, StoreAnswer } from './core/rate-store.js';
export type {
  ApiKey,
  CallEndEvent,
  CallStartEvent,
  ClientEvents,
  ClientOptions,
  DataOptions,
  Logger,
  MismatchEvent,
  RateLimit,
  RateLimitOptions,
  RateLimitState,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  RunRequest,
  ThrottledEvent,
  ValidationOptions,
  WarningEvent,
} from './core/types.js';
