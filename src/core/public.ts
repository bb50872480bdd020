// The exports that each entry point with a client has in addition to the client.

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
  type ErrorDetails,
  type FieldError,
  type Outcome,
  type PartialReport,
  type Report,
  type ReportedRow,
} from './errors.js';

// Calls, their inputs and their results.
export type { Method } from './call/route.js';
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
} from './types.js';
export type {
  Acknowledgement,
  FieldObject,
  FileInput,
  NamedFile,
  OpenInput,
  OpenRecord,
  Timestamp,
} from './values.js';
export type { JobUpdate, JobWaitOptions, RecordWaitOptions } from './wait.js';

// Clients, their options and their events.
export { memoryJournal } from './once/journal.js';
export type { CallJournal, JournalEntry, JournalState } from './once/call-journal.js';
export type { JournalItem, JournalPage, JournalStore } from './once/journal.js';
export type { BudgetLimits, RateBudgetStore, StoreAnswer } from './limit/rate-store.js';
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
} from './types.js';
