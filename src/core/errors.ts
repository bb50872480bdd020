// Shared by every copy of the package in one process, so that `instanceof` works across the ESM build, the
// CommonJS build and duplicate installs.
const brand = Symbol.for('postreel.error');

/**
 * Marks a class so that `instanceof` recognizes its instances from other copies of the package. Returns the
 * names of the class and its bases, base first. The result goes into a static field: if the call were a
 * separate statement, a bundler would keep a class that is not used.
 */
export function markClass(
  target: abstract new (...parameters: never) => Error,
  name: string,
): readonly string[] {
  // The prototype inherits the names of the class that it extends.
  const names: readonly string[] = [...brandsOf(target.prototype), name];
  Object.defineProperty(target.prototype, brand, { value: names });
  Object.defineProperty(target, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // A subclass of a user is not marked: the prototype chain decides.
      if (this !== target) {
        return isPrototypeOf(this, value);
      }
      return brandsOf(value).includes(name);
    },
  });
  Object.defineProperty(target.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  return names;
}

/** The names of the error classes that a value belongs to, base first; empty for anything else. */
function brandsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const names: unknown = Reflect.get(value, brand);
  return Array.isArray(names) ? names.map(String) : [];
}

function isPrototypeOf(constructor: unknown, value: unknown): boolean {
  return typeof constructor === 'function' && typeof value === 'object' && value !== null
    ? Object.prototype.isPrototypeOf.call(constructor.prototype as object, value) // as: classes have one
    : false;
}

/**
 * Whether a failed call took effect:
 * - `'not-sent'`: the service never received it;
 * - `'rejected'`: the service refused it;
 * - `'unknown'`: it may have taken effect, because no usable response arrived.
 */
export type Outcome = 'not-sent' | 'rejected' | 'unknown';

/** The problem of one field of a request. */
export interface FieldError {
  /** The field's path, e.g. `subject` or `payload[0].content`. */
  readonly field: string;
  readonly message: string;
  /** A stable code for programs, if the service gives one. */
  readonly code?: string;
}

/** The facts of an error. Everything except `code` is optional. */
export interface ErrorDetails {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly fieldErrors?: readonly FieldError[] | undefined;
  readonly suggestion?: string | undefined;
  readonly outcome?: Outcome | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly timestamp?: string | undefined;
  readonly details?: unknown;
  readonly body?: unknown;
  readonly cause?: unknown;
}

/** The base of every error that this package throws. */
export class PostreelError extends Error {
  /** @internal */
  static readonly brands = markClass(this, 'PostreelError');

  /** A stable code for programs: the service's code if it gave one, otherwise one of this package. */
  readonly code: string;
  /** The HTTP status, if there was a response. */
  declare readonly status: number | undefined;
  /** The service's id of the request, for its support. */
  declare readonly requestId: string | undefined;
  /** The fields that are wrong; empty if they are not known. */
  declare readonly fieldErrors: readonly FieldError[];
  /** The service's hint on what to do. */
  declare readonly suggestion: string | undefined;
  /** Whether the call took effect; `undefined` if the error does not concern a single call. */
  declare readonly outcome: Outcome | undefined;
  /** How long to wait before another try, in milliseconds, if known. */
  declare readonly retryAfterMs: number | undefined;
  declare readonly method: string | undefined;
  /** The path below the base address, without the query. */
  declare readonly path: string | undefined;
  /** The time of the failure by the service's clock, as the service wrote it. */
  declare readonly timestamp: string | undefined;
  /** Facts that only this kind of error has, e.g. the references to a field that is still in use. */
  declare readonly details: unknown;
  /**
   * The body of the response, parsed if it is JSON, otherwise its text. It is shortened, and keys are
   * removed. Not enumerable, so that no log contains it by accident.
   */
  declare readonly body: unknown;

  constructor(message: string, details: ErrorDetails = {}) {
    super(toOneLine(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code ?? 'POSTREEL_ERROR';
    // Set only the known facts, so that a printed error shows nothing else.
    const { status, requestId, suggestion, outcome, retryAfterMs, method, path, timestamp } =
      details;
    const facts = { status, requestId, suggestion, outcome, retryAfterMs, method, path, timestamp };
    for (const [name, value] of Object.entries(facts)) {
      if (value !== undefined) {
        Object.assign(this, { [name]: value });
      }
    }
    const { fieldErrors = [] } = details;
    Object.defineProperty(this, 'fieldErrors', {
      value: fieldErrors,
      enumerable: fieldErrors.length > 0,
      configurable: true,
      writable: true,
    });
    Object.defineProperty(this, 'details', { value: details.details });
    Object.defineProperty(this, 'body', { value: details.body });
  }

  /** The facts worth logging, including causes: no body, no header, no key, no stack. */
  toJSON(): Record<string, unknown> {
    return {
      name: this.name,
      message: this.message,
      code: this.code,
      status: this.status,
      requestId: this.requestId,
      fieldErrors: this.fieldErrors.length > 0 ? this.fieldErrors : undefined,
      suggestion: this.suggestion,
      outcome: this.outcome,
      retryAfterMs: this.retryAfterMs,
      method: this.method,
      path: this.path,
      timestamp: this.timestamp,
      cause: causeToJson(this.cause, 0),
    };
  }
}

// Messages quote ids and names of the service. They must be one line of text in a log or a terminal.
function toOneLine(message: unknown): string {
  return String(message).replace(/\p{Cc}+/gu, ' ');
}

// Copies names, messages and codes only, to a limited depth: a chain of causes may refer to itself.
function causeToJson(cause: unknown, depth: number): unknown {
  if (!isError(cause) || depth >= 5) {
    return undefined;
  }
  const { name, message, code } = cause;
  const word = typeof code === 'string' ? code : undefined;
  return { name, message, code: word, cause: causeToJson(cause.cause, depth + 1) };
}

/** The service answered with an error. The subclasses follow the HTTP status. */
export class ApiError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'ApiError');
}

/** 400: a parameter is invalid or the body is malformed. */
export class BadRequestError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'BadRequestError');
}

/** 401: the API key is missing or invalid. */
export class AuthenticationError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'AuthenticationError');
}

/** 403: the key may not touch this resource, or its project is disabled. */
export class PermissionError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'PermissionError');
}

/** 404: there is no such resource. */
export class NotFoundError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'NotFoundError');
}

/** 409: the email belongs to another contact, or the resource is in use. */
export class ConflictError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'ConflictError');
}

/** 422: the service's validation failed; `fieldErrors` has the fields. */
export class UnprocessableError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'UnprocessableError');
}

/**
 * 429, or a call that was never sent, because its wait for the rate limit would exceed the deadline or
 * `maxQueueMs` (`code: 'QUEUE_TIMEOUT'`, no `status`); see `retryAfterMs`.
 */
export class RateLimitError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'RateLimitError');
}

/** 5xx: the service failed. On a route that changes something the outcome is `'unknown'`. */
export class ServerError extends ApiError {
  /** @internal */
  static override readonly brands = markClass(this, 'ServerError');
}

/** The client's checks rejected the call before it was sent; `fieldErrors` has the reasons. */
export class InvalidRequestError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'InvalidRequestError');

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { outcome: 'not-sent', ...details });
  }
}

/** The client is misconfigured: a key, an address or an option is wrong. */
export class ConfigurationError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'ConfigurationError');

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { outcome: 'not-sent', ...details });
    // A constructor throws this error, so its stack should start at the constructor's caller.
    const { stack } = this as { stack?: unknown }; // a program may format stacks in its own way
    if (typeof stack === 'string') {
      const [line = '', ...frames] = stack.split('\n');
      this.stack = [line, ...removeOwnFrames(frames)].join('\n');
    }
  }
}

/** The service could not be reached, or the connection broke before the response was complete. */
export class ConnectionError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'ConnectionError');
}

/** No complete response arrived within `timeout`, or the call exceeded its `deadline`. */
export class TimeoutError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'TimeoutError');
}

/** The response cannot be read as a result of this call. */
export class UnexpectedResponseError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'UnexpectedResponseError');
}

/** The error of a call that the client's checks reject: it names the field and the rule. */
export function invalidRequest(
  fieldErrors: readonly FieldError[],
  where: { method?: string; path?: string } = {},
): InvalidRequestError {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  // A rule about the whole call, e.g. "`contacts.lookup()` takes …", has no field name in front.
  const sentence = first === undefined ? 'it is not valid' : describe(first);
  const line =
    where.method === undefined
      ? capitalize(sentence)
      : `${where.method} ${where.path ?? ''} was not sent: ${sentence}`;
  const end = `${line}${more}`.endsWith('?') ? '' : '.';
  return new InvalidRequestError(`${line}${more}${end}`, {
    code: 'INVALID_REQUEST',
    outcome: 'not-sent',
    fieldErrors,
    ...where,
  });
}

function describe({ field, message }: FieldError): string {
  return field === '' ? message : `\`${field}\` ${message}`;
}

export function capitalize(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** The reason that a callback was rejected. */
export type WebhookProblem =
  | 'SIGNATURE_MISSING'
  | 'SIGNATURE_INVALID'
  | 'EXPIRED'
  | 'REPLAYED'
  | 'BODY_TOO_LARGE'
  | 'BODY_INVALID'
  | 'NOT_CONFIRMED';

/** A callback is not authentic or not valid, and must not be acted on; `code` is the reason. */
export class WebhookVerificationError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'WebhookVerificationError');

  declare readonly code: WebhookProblem;

  constructor(code: WebhookProblem, message: string, cause?: unknown) {
    super(message, { code, cause });
  }
}

/** The facts of a wait that ended without a result. */
export interface WaitDetails extends ErrorDetails {
  /** The file or job that was waited for. */
  readonly id: string;
  readonly lastStatus: string | undefined;
  readonly elapsedMs: number;
  /** How many times the status was requested. */
  readonly polls: number;
  /** The last status record, as the service sent it. */
  readonly record?: unknown;
  /** Waits again, with the options of the first wait unless others are given. */
  readonly resume: (options?: object) => Promise<unknown>;
}

/** The base of the errors that end a wait. */
export class WaitError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'WaitError');

  /** The id of the media file, or of the import or bulk job. */
  readonly fileId: string;
  readonly lastStatus: string | undefined;
  /** How long the wait took, in milliseconds. */
  readonly elapsedMs: number;
  /** How many times the status was requested. */
  readonly polls: number;
  /**
   * The status record that ended the wait, as the service sent it; the message has its reason. Not
   * enumerable, so that no log contains it by accident.
   */
  declare readonly record: unknown;
  readonly #resume: (options?: object) => Promise<unknown>;

  constructor(message: string, details: WaitDetails) {
    super(message, details);
    Object.defineProperty(this, 'record', { value: details.record });
    this.fileId = details.id;
    this.lastStatus = details.lastStatus;
    this.elapsedMs = details.elapsedMs;
    this.polls = details.polls;
    this.#resume = details.resume;
  }

  /** Continues waiting for the same file or job. */
  resume(options?: object): Promise<unknown> {
    return this.#resume(options);
  }

  override toJSON(): Record<string, unknown> {
    const { fileId, lastStatus, elapsedMs, polls } = this;
    return { ...super.toJSON(), fileId, lastStatus, elapsedMs, polls };
  }
}

/** The wait exceeded its `timeout`. The job is still running; `resume()` waits again. */
export class WaitTimeoutError extends WaitError {
  /** @internal */
  static override readonly brands = markClass(this, 'WaitTimeoutError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'WAIT_TIMEOUT', ...details });
  }
}

/** The file's status became `error`. */
export class GenerationFailedError extends WaitError {
  /** @internal */
  static override readonly brands = markClass(this, 'GenerationFailedError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_FAILED', ...details });
  }
}

/** The file's status became `canceled`. */
export class GenerationCanceledError extends WaitError {
  /** @internal */
  static override readonly brands = markClass(this, 'GenerationCanceledError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_CANCELED', ...details });
  }
}

/** An import or bulk job failed. */
export class JobFailedError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'JobFailedError');

  readonly jobId: string;
  /** The job's last record, as the service sent it. */
  readonly job: unknown;

  constructor(message: string, details: ErrorDetails & { jobId: string; job: unknown }) {
    super(message, { code: 'JOB_FAILED', ...details });
    this.jobId = details.jobId;
    this.job = details.job;
  }
}

/** A row of a call with many rows, and the reason why it is not done. */
export interface ReportedRow<Row> {
  row: Row;
  /** The index of the row in the input, from 0. */
  index: number;
  error: unknown;
}

/** The result of a call with many rows. Successful rows are only counted, so that memory stays constant. */
export interface Report<Row> {
  /** How many rows took effect. */
  done: number;
  /** The rows that certainly did not take effect. */
  failed: ReportedRow<Row>[];
  /** The rows that may have taken effect: check them before you pass them again. */
  unknown: ReportedRow<Row>[];
  /** The service's jobs, in calls that have them, as the service returned them. */
  jobs?: Record<string, unknown>[];
}

/**
 * The result of a call with many rows that ended early. `done`, `failed`, `unknown`, `skipped` and
 * `notReached` together are the whole input.
 */
export interface PartialReport<Row> extends Report<Row> {
  /** How many rows were not reached, always the last ones; `undefined` if the input has no known length. */
  notReached: number | undefined;
  /** The first row that was not reached, from 0: pass it as `{ from }` to continue. */
  resumeFrom: number;
  /** The recipients of `sendEach()` whose row has `subscribed: false`; `undefined` in other calls. */
  skipped?: { row: Row; index: number }[] | undefined;
}

/**
 * A call with many rows ended early: by an abort, a rejected key, or a source of rows that threw. `result`
 * holds what was done, and `cause` the error, or the reason of the abort, that ended it.
 */
export class PartialError<Row = unknown> extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'PartialError');

  /**
   * What was done so far. Not enumerable, so that no log contains a million rows, or addresses, by accident.
   */
  declare readonly result: PartialReport<Row>;

  /** `call` is the name of the call, e.g. `contacts.deleteAll()`. */
  constructor(
    call: string,
    result: PartialReport<Row>,
    cause: unknown,
    { code = 'PARTIAL_RESULT', goOn = `Continue with \`{ from: ${result.resumeFrom} }\`.` } = {},
  ) {
    super(describeEnd(call, result, cause, goOn), { code, cause });
    Object.defineProperty(this, 'result', { value: result });
  }

  /** Counts instead of rows, because rows hold personal data. */
  override toJSON(): Record<string, unknown> {
    const { done, failed, unknown, skipped, notReached, resumeFrom } = this.result;
    const counts = {
      done,
      failed: failed.length,
      unknown: unknown.length,
      ...(skipped && { skipped: skipped.length }),
    };
    return { ...super.toJSON(), ...counts, notReached, resumeFrom };
  }
}

function describeEnd<Row>(
  call: string,
  result: PartialReport<Row>,
  cause: unknown,
  goOn: string,
): string {
  const { done, failed, unknown, skipped = [], resumeFrom } = result;
  const more = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  const counts = `${done} done, ${failed.length} failed, ${unknown.length} unknown${more}`;
  const why = isPostreelError(cause) ? cause.message : `The reason: ${reasonOf(cause)}`;
  return `\`${call}\` ended before row ${resumeFrom}: ${counts}. ${goOn} ${why}`;
}

/** Is this an error of this package? Also true for an error of another copy of it. */
export function isPostreelError(error: unknown): error is PostreelError {
  return brandsOf(error).includes('PostreelError');
}

/** Is this an error? Also true for errors of other realms, as in Jest. Node's errors have a code. */
export function isError(value: unknown): value is Error & { readonly code?: unknown } {
  const { name, message } = Object(value) as Partial<Error>; // as: any value
  return typeof value === 'object' && typeof name === 'string' && typeof message === 'string';
}

/** The message of an error, or the text of any other thrown value. */
export function messageOf(error: unknown): string {
  return isError(error) ? error.message : String(error);
}

/** Is this an error response of the service (4xx, 5xx, `success: false`)? */
export function isApiError(error: unknown): error is ApiError {
  return brandsOf(error).includes('ApiError');
}

const transientCodes = new Set(['CONNECTION_LOST', 'TIMEOUT', 'NOT_CONNECTED']);

/**
 * May the same request succeed a little later? True for a lost or refused connection, a timeout, 408, 429
 * and 5xx; other responses would be the same again.
 */
export function isTransient({ status, code }: PostreelError): boolean {
  if (status === undefined) {
    return transientCodes.has(code);
  }
  return status === 408 || status === 429 || status >= 500;
}

const maxLength = 200;

/**
 * The reason why a user's store or function failed, in one line and without passwords: drivers may quote the
 * address that they connect to.
 */
export function reasonOf(failure: unknown): string {
  const text = isError(failure) ? failure.message || failure.name : String(failure);
  return text
    .replace(/\/\/[^/@\s]*@/g, '//')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, maxLength);
}

/** The same reason as a sentence. */
export function reasonSentence(failure: unknown): string {
  return `${reasonOf(failure).replace(/\.$/, '')}.`;
}

// Matches a frame in a file of this package, installed or built. A user's bundle has no such frames.
const ownFrame = /[\\/]postreel[\\/]dist[\\/](?:esm|cjs)[\\/]/;

/** Removes the frames of this package from the start of a stack, so that it begins with the caller's line. */
export function removeOwnFrames(frames: readonly string[]): readonly string[] {
  const first = frames.findIndex((frame) => !ownFrame.test(frame));
  return first < 0 ? frames : frames.slice(first);
}
