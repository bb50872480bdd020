export {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  UnprocessableError,
} from './api-errors.js';
export { PostreelError, type ErrorDetails, type FieldError, type Outcome } from './base-error.js';
export {
  ConfigurationError,
  ConnectionError,
  InvalidRequestError,
  TimeoutError,
  UnexpectedResponseError,
} from './client-errors.js';
export { isApiError, isPostreelError } from './guards.js';
export { PartialError } from './partial-error.js';
export type { PartialReport, Report, ReportedRow } from './report.js';
