import {
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
  UnprocessableError,
  type Outcome,
} from '../../errors/index.js';
import type { CallContext, CallFacts } from '../context.js';
import { readError, type Said } from './error-body.js';

/** What to add about a call whose outcome is unknown. */
export function effectHint({ route }: CallContext): string {
  return route.changes ? ' It may have taken effect.' : '';
}

const classes: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableError,
  429: RateLimitError,
};

/** What is known of an answer beside its body. */
export interface AnswerFacts {
  readonly outcome: Outcome;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** Takes keys out of a text that the service wrote. */
  readonly clean: (text: string) => string;
  /** What the caller may have got wrong. */
  readonly hint?: string | undefined;
}

/** Turns an error response into its error, whichever of the known bodies it has. */
export function apiError(
  call: CallFacts,
  status: number,
  text: string,
  { clean, hint, ...facts }: AnswerFacts,
): ApiError {
  const said = readError(text, clean);
  const requestId = said.requestId ?? facts.requestId;
  const details = {
    ...said,
    ...facts,
    ...call,
    requestId,
    status,
    code: said.code ?? `HTTP_${status}`,
  };
  const ErrorClass = classes[status] ?? (status >= 500 ? ServerError : ApiError);
  const line = sentence(call, status, said, requestId);
  return new ErrorClass(hint === undefined ? line : `${line} ${hint}`, details);
}

function sentence(
  call: CallFacts,
  status: number,
  said: Said,
  requestId: string | undefined,
): string {
  const verb = status >= 500 || status === 408 ? 'failed' : 'was rejected';
  const code = said.code === undefined ? '' : ` ${trim(said.code, 60)}`;
  const reason = reasonOf(said);
  const id = requestId === undefined ? '' : ` Request id ${trim(requestId, 60)}.`;
  return `${call.method} ${call.path} ${verb} (${status}${code})${reason}.${id}`;
}

// The service's own sentence, then the first field: they complement each other.
function reasonOf({ fieldErrors = [], message }: Said): string {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  const field = first?.field ? `\`${trim(first.field, 60)}\` ` : '';
  const rule = first === undefined ? undefined : `${field}${trim(first.message)}${more}`;
  const parts = [message === undefined ? undefined : trim(message), rule];
  return parts.map((part) => (part === undefined ? '' : `: ${part}`)).join('');
}

// One line without control characters: a message ends up in logs and terminals.
function trim(text: string, longest = 200): string {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
