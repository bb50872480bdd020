import { isRecord } from '../../contract/records.js';
import type { ErrorDetails, FieldError } from '../../errors/index.js';

const maxTextLength = 1000;
const maxRawTextLength = 4000;
const maxFieldErrors = 100;
const maxNodes = 1000;
const deepest = 10;

/** The service's description of a failure. */
export interface Said extends ErrorDetails {
  readonly message?: string | undefined;
}

/**
 * Reads the body of an error response: the documented envelope; the other documented body
 * `{ code, error, message, time }`; `{ error }` or `{ data }` with a text; problem details; a JSON
 * string; plain text. Nothing of it is lost: the whole is the error's `body`.
 */
export function readError(text: string, clean: (text: string) => string): Said {
  const body = parse(text);
  if (body === undefined) {
    return readText(text, clean);
  }
  // Cleaned after parsing: escapes in the JSON would hide a key.
  const string = (value: unknown) =>
    typeof value === 'string' && value !== '' ? clean(value).slice(0, maxTextLength) : undefined;
  const copy = copyOf(body, { clean, nodesLeft: maxNodes }, 0);
  if (!isRecord(body)) {
    return { message: string(body), body: copy };
  }
  const inner = isRecord(body['error']) ? body['error'] : body;
  const errorText = string(body['error']);
  const message = string(inner['message']) ?? string(inner['detail']);
  return {
    code: codeOf(string(inner['code'])) ?? codeOf(message && errorText),
    message: message ?? errorText ?? string(inner['title']) ?? string(body['data']),
    requestId: string(inner['requestId']) ?? string(body['requestId']),
    suggestion: string(inner['suggestion']),
    timestamp: string(inner['timestamp']) ?? string(body['timestamp']) ?? string(body['time']),
    details: copyOf(inner['details'], { clean, nodesLeft: maxNodes }, 0),
    fieldErrors: fieldErrorsOf([inner, body], string),
    body: copy,
  };
}

// A sentence in the place of a code may hold anything, an address too.
function codeOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[a-z][\w.:/-]{0,63}$/i.test(text) ? text : undefined;
}

// The page of a gateway is no sentence.
function readText(text: string, clean: (text: string) => string): Said {
  const plain = text.trim();
  if (plain === '') {
    return {};
  }
  const body = clean(plain).slice(0, maxRawTextLength);
  return /^[<{[]/.test(plain) ? { body } : { message: body.slice(0, maxTextLength), body };
}

type ReadText = (value: unknown) => string | undefined;

// Under these names services list what is wrong with fields.
const listNames = ['errors', 'issues', 'fieldErrors', 'invalid-params', 'invalidParams'];
/** What else may be a list of them, and is something else where it is no list. */
const otherNames = ['details', 'detail', 'message'];

/** The errors of fields, from the first place and name that has any. */
function fieldErrorsOf(places: readonly Record<string, unknown>[], string: ReadText): FieldError[] {
  for (const place of places) {
    const others = otherNames.filter((name) => Array.isArray(place[name]));
    for (const name of [...listNames, ...others]) {
      const found = listed(place[name], string).slice(0, maxFieldErrors);
      if (found.length > 0) {
        return found;
      }
    }
  }
  return [];
}

function listed(value: unknown, string: ReadText): FieldError[] {
  if (Array.isArray(value)) {
    return (value as unknown[]).flatMap((entry) => fieldErrorOf(entry, string) ?? []);
  }
  if (!isRecord(value)) {
    return [];
  }
  // `{ fieldErrors: { subject: […] } }` inside, or a map of fields itself.
  const inner = listed(value['fieldErrors'] ?? value['issues'], string);
  return inner.length > 0 ? inner : mapped(value, string);
}

/** `{ subject: ['is too long'], to: 'is required' }` */
function mapped(map: Record<string, unknown>, string: ReadText): FieldError[] {
  const entries = Object.entries(map).flatMap(([field, value]) => {
    const messages = (Array.isArray(value) ? (value as unknown[]) : [value]).map(string);
    return messages.map((message) => ({ field: string(field) ?? '', message }));
  });
  // A field without a sentence: this is no map of errors.
  return entries.every(({ message }) => message !== undefined)
    ? entries.map(({ field, message = '' }) => ({ field, message }))
    : [];
}

function fieldErrorOf(entry: unknown, string: ReadText): FieldError | undefined {
  if (!isRecord(entry)) {
    const message = string(entry);
    return message === undefined ? undefined : { field: '', message };
  }
  const source = isRecord(entry['source']) ? entry['source'] : {};
  const place = ['field', 'path', 'loc', 'param', 'property', 'name', 'pointer'];
  const named = place.map((name) => entry[name]).find((value) => value !== undefined);
  const field = string(fieldName(named ?? source['pointer'] ?? source['parameter'])) ?? '';
  const [rule] = isRecord(entry['constraints']) ? Object.values(entry['constraints']) : [];
  const words = [
    entry['message'],
    entry['msg'],
    entry['reason'],
    entry['detail'],
    entry['title'],
    rule,
  ];
  const message = words.map(string).find((word) => word !== undefined);
  const code = string(entry['code']) ?? string(entry['type']);
  if (field === '' && message === undefined) {
    return undefined;
  }
  return { field, message: message ?? 'is not valid', ...(code !== undefined && { code }) };
}

/** `['body', 'to', 0]` and `/to/0` as `to[0]`. */
function fieldName(place: unknown): unknown {
  const isPointer = typeof place === 'string' && /^#?\//.test(place);
  const steps: readonly unknown[] | undefined = isPointer
    ? place.replace(/^#?\//, '').split('/')
    : Array.isArray(place)
      ? (place as unknown[])
      : undefined;
  if (steps === undefined) {
    return place;
  }
  // Some services begin with the part of the request.
  const own =
    steps.length > 1 && (steps[0] === 'body' || steps[0] === 'query') ? steps.slice(1) : steps;
  return own
    .map((step, index) => {
      const text = String(step);
      return /^\d+$/.test(text) ? `[${text}]` : `${index > 0 ? '.' : ''}${text}`;
    })
    .join('');
}

interface CopyTerms {
  readonly clean: (text: string) => string;
  nodesLeft: number;
}

// Names too: a service may well echo what it was sent.
function copyOf(value: unknown, terms: CopyTerms, depth: number): unknown {
  if (typeof value === 'string') {
    return terms.clean(value).slice(0, maxTextLength);
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
