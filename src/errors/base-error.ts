import { branded } from './brand.js';

/**
 * Whether a failed call took effect:
 * - `'not-sent'`: the service never saw it;
 * - `'rejected'`: the service answered no;
 * - `'unknown'`: it may have happened, since no usable answer came back.
 */
export type Outcome = 'not-sent' | 'rejected' | 'unknown';

/** What is wrong with one field of a request. */
export interface FieldError {
  /** The field's path, e.g. `subject` or `payload[0].content`. */
  readonly field: string;
  readonly message: string;
  /** A word for programs, when the service gives one. */
  readonly code?: string;
}

/** The facts of an error. Everything is optional but `code`. */
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
  static readonly brands = branded(this, 'PostreelError');

  /** A stable word for programs: the service's own where it gave one, otherwise ours. */
  readonly code: string;
  /** The HTTP status, when the service answered. */
  declare readonly status: number | undefined;
  /** The service's id of the request, for its support. */
  declare readonly requestId: string | undefined;
  /** Which fields are wrong; empty when nothing is known. */
  declare readonly fieldErrors: readonly FieldError[];
  /** The service's hint on what to do. */
  declare readonly suggestion: string | undefined;
  /** Whether the call took effect; `undefined` where no single call failed. */
  declare readonly outcome: Outcome | undefined;
  /** How long to wait before another try, in milliseconds, when known. */
  declare readonly retryAfterMs: number | undefined;
  declare readonly method: string | undefined;
  /** The path below the base address, without the query. */
  declare readonly path: string | undefined;
  /** When it failed by the service's clock, as the service wrote it. */
  declare readonly timestamp: string | undefined;
  /** What the service added about the failure, as it sent it, without keys. */
  declare readonly details: unknown;
  /**
   * The body of the answer, parsed where it is JSON, otherwise its text: cut to a bound and without
   * keys. Not enumerable, so that no log writes it by accident.
   */
  declare readonly body: unknown;

  constructor(message: string, details: ErrorDetails = {}) {
    super(oneLine(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code ?? 'POSTREEL_ERROR';
    // What is absent is no field: an error that is printed shows what is known, and nothing else.
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

  /** What is worth logging, causes included: no body, no header, no key, no stack. */
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
      cause: causeJson(this.cause, 0),
    };
  }
}

// Messages quote ids and names of the service: in a log or a terminal they must stay one line of text.
function oneLine(message: unknown): string {
  return String(message).replace(/\p{Cc}+/gu, ' ');
}

// Names, messages and codes only; a chain may refer to itself.
function causeJson(cause: unknown, depth: number): unknown {
  if (!(cause instanceof Error) || depth >= 5) {
    return undefined;
  }
  const { name, message, code } = cause as Error & { code?: unknown }; // Node's faults have one
  const word = typeof code === 'string' ? code : undefined;
  return { name, message, code: word, cause: causeJson(cause.cause, depth + 1) };
}
