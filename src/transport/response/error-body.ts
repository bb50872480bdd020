import { isRecord } from '../../contract/records.js';
import type { ErrorDetails, FieldError } from '../../errors/index.js';

const longestText = 1000;
const longestRawText = 4000;
const mostFieldErrors = 100;
const mostNodes = 1000;
const deepest = 10;

/** What the service said about a failure. */
export interface Said extends ErrorDetails {
  readonly message?: string | undefined;
}

/**
 * Reads the body of an answer that says no: the documented envelope; the other documented body
 * `{ code, error, message, time }`; `{ error }` or `{ data }` with a text; problem details; a JSON
 * string; plain text. Nothing that the service said is lost: the whole is the error's `body`.
 */
export function readError(text: string, clean: (text: string) => string): Said {
  const body = parse(text);
  if (body === undefined) {
    return readText(text, clean);
  }
  // Cleaned after parsing: escapes in the JSON would hide a key.
  const string = (value: unknown) =>
    typeof value === 'string' && value !== '' ? clean(value).slice(0, longestText) : undefined;
  const copy = copyOf(body, { clean, nodesLeft: mostNodes }, 0);
  if (!isRecord(body)) {
    return { message: string(body), body: copy };
  }
  const inner = isRecord(body['error']) ? body['error'] : body;
  const errorText = string(body['error']);
  const message = string(inner['message']) ?? string(inner['detail']);
  return {
    code: string(inner['code']) ?? (message && errorText) ?? undefined,
    message: message ?? errorText ?? string(inner['title']) ?? string(body['data']),
    requestId: string(inner['requestId']) ?? string(body['requestId']),
    suggestion: string(inner['suggestion']),
    timestamp: string(inner['timestamp']) ?? string(body['timestamp']) ?? string(body['time']),
    details: copyOf(inner['details'], { clean, nodesLeft: mostNodes }, 0),
    fieldErrors: fieldErrors(inner['errors'], string),
    body: copy,
  };
}

// The page of a gateway is no sentence.
function readText(text: string, clean: (text: string) => string): Said {
  const plain = text.trim();
  if (plain === '') {
    return {};
  }
  const body = clean(plain).slice(0, longestRawText);
  return /^[<{[]/.test(plain) ? { body } : { message: body.slice(0, longestText), body };
}

function fieldErrors(
  errors: unknown,
  string: (value: unknown) => string | undefined,
): FieldError[] {
  if (!Array.isArray(errors)) {
    return [];
  }
  return (errors as unknown[])
    .slice(0, mostFieldErrors)
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

interface CopyTerms {
  readonly clean: (text: string) => string;
  nodesLeft: number;
}

// Names too: a service may well echo what it was sent.
function copyOf(value: unknown, terms: CopyTerms, depth: number): unknown {
  if (typeof value === 'string') {
    return terms.clean(value).slice(0, longestText);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= deepest) {
    return '…';
  }
  const entries = Object.entries(value).slice(0, Math.max(0, terms.nodesLeft));
  terms.nodesLeft -= entries.length;
  const copies = entries.map(
    ([name, item]) => [terms.clean(name), copyOf(item, terms, depth + 1)] as const,
  );
  return Array.isArray(value) ? copies.map(([, item]) => item) : Object.fromEntries(copies);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
