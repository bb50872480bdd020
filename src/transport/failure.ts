import { isRecord } from '../contract/is-record.js';
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
  type ErrorDetails,
  type FieldError,
  type Outcome,
} from '../errors/index.js';

/** The call that an error belongs to. */
export interface CallFacts {
  readonly method: string;
  readonly path: string;
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

/** Turns an answer that says no into its error, whichever of the known bodies it has. */
export function apiError(
  call: CallFacts,
  status: number,
  text: string,
  facts: { outcome: Outcome; requestId: string | undefined; retryAfterMs: number | undefined },
): ApiError {
  const said = read(text);
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
  return new ErrorClass(sentence(call, status, said, requestId), details);
}

interface Said extends ErrorDetails {
  readonly message?: string | undefined;
}

// The documented envelope; the other documented body { code, error, message, time }; a bare
// { error: 'text' }; anything else says nothing.
function read(text: string): Said {
  const body = parse(text);
  if (!isRecord(body)) return {};
  const inner = isRecord(body['error']) ? body['error'] : body;
  const errorText = string(body['error']);
  return {
    code: string(inner['code']) ?? (string(inner['message']) && errorText) ?? undefined,
    message: string(inner['message']) ?? errorText,
    requestId: string(inner['requestId']) ?? string(body['requestId']),
    suggestion: string(inner['suggestion']),
    fieldErrors: fieldErrors(inner['errors']),
  };
}

function fieldErrors(errors: unknown): FieldError[] {
  if (!Array.isArray(errors)) return [];
  return (errors as unknown[])
    .slice(0, 100)
    .filter(isRecord)
    .map((error) => {
      const code = string(error['code']);
      return {
        field: string(error['field']) ?? '',
        message: string(error['message']) ?? 'is not valid',
        ...(code !== undefined && { code }),
      };
    });
}

function sentence(
  call: CallFacts,
  status: number,
  said: Said,
  requestId: string | undefined,
): string {
  const verb = status >= 500 ? 'failed' : 'was rejected';
  const code = said.code === undefined ? '' : ` ${said.code}`;
  const reason = reasonOf(said);
  const id = requestId === undefined ? '' : ` Request id ${requestId}.`;
  return `${call.method} ${call.path} ${verb} (${status}${code})${reason}.${id}`;
}

function reasonOf({ fieldErrors = [], message }: Said): string {
  const [first] = fieldErrors;
  const more = fieldErrors.length > 1 ? ` (and ${fieldErrors.length - 1} more)` : '';
  if (first) return `: ${first.field ? `\`${first.field}\` ` : ''}${trim(first.message)}${more}`;
  return message === undefined ? '' : `: ${trim(message)}`;
}

function trim(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 1000) : undefined;
}
