export { ApiError } from './api-error.js';
export { AuthenticationError } from './authentication-error.js';
export { BadRequestError } from './bad-request-error.js';
export { ConfigurationError } from './configuration-error.js';
export { ConflictError } from './conflict-error.js';
export { ConnectionError } from './connection-error.js';
export { GenerationCanceledError } from './generation-canceled-error.js';
export { GenerationFailedError } from './generation-failed-error.js';
export { isApiError, isPostreelError } from './guards.js';
export { InvalidRequestError } from './invalid-request-error.js';
export { JobFailedError } from './job-failed-error.js';
export { NotFoundError } from './not-found-error.js';
export { PermissionError } from './permission-error.js';
export {
  PostreelError,
  type ErrorDetails,
  type FieldError,
  type Outcome,
} from './postreel-error.js';
export { RateLimitError } from './rate-limit-error.js';
export { ServerError } from './server-error.js';
export { TimeoutError } from './timeout-error.js';
export { UnexpectedResponseError } from './unexpected-response-error.js';
export { UnprocessableError } from './unprocessable-error.js';
export { WaitError, type WaitDetails } from './wait-error.js';
export { WaitTimeoutError } from './wait-timeout-error.js';
export { WebhookVerificationError, type WebhookProblem } from './webhook-verification-error.js';
