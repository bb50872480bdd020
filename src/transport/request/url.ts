import { ConfigurationError } from '../../errors/index.js';
import { isIdNumber, notAnId } from '../../contract/ids.js';
import { isDate, isRecord } from '../../contract/records.js';
import { invalidRequest } from '../../errors/client-errors.js';

/** Checks a base address and brings it into one form: no query, no trailing slash. */
export function normalizeBaseUrl(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ConfigurationError(
      '`baseUrl` is not an absolute address. Give it with its scheme, e.g. "https://api.example.com".',
      { code: 'INVALID_BASE_URL' },
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError('`baseUrl` must start with https:// or http://.', {
      code: 'INVALID_BASE_URL',
    });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError('`baseUrl` must not hold credentials, a query or a fragment.', {
      code: 'INVALID_BASE_URL',
    });
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Puts the path parameters into a path such as `/contacts/{id}`, each as one encoded segment. */
export function fillPath(
  template: string,
  parameters: Readonly<Record<string, unknown>> | undefined,
): string {
  if (!template.includes('{')) {
    return template;
  }
  return template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, parameters?.[name]));
}

/** A query string with its question mark, or nothing. `undefined` and `null` are left out. */
export function queryString(query: object | undefined): string {
  if (!query) {
    return '';
  }
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined && one !== null) {
        search.append(name, queryValue(name, one));
      }
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw invalidRequest([
      { field: name, message: `must be a string; got ${kindOf(value)}${idHint(value)}` },
    ]);
  }
  // JSON has rounded a larger number already: it would be another record's id.
  if (typeof value === 'number' && !isIdNumber(value)) {
    throw invalidRequest([{ field: name, message: `${notAnId}; got ${value}` }]);
  }
  const text = String(value);
  // An empty or dotted segment would reach another endpoint: `/contacts/..` is `/`.
  if (text === '' || text === '.' || text === '..') {
    throw invalidRequest([
      { field: name, message: `must not be ${text === '' ? 'empty' : `"${text}"`}` },
    ]);
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw invalidRequest([{ field: name, message: 'contains an unpaired surrogate' }]);
  }
}

// A whole record in the place of its id.
function idHint(value: unknown): string {
  return isRecord(value) && 'id' in value ? ': pass its `id`' : '';
}

/** What was passed instead, and what to do about it. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (Array.isArray(value)) {
    return 'a list';
  }
  if (typeof value === 'object') {
    const isPromise = typeof (value as { then?: unknown }).then === 'function'; // an object
    return isPromise ? 'a promise: `await` it first' : 'an object';
  }
  return `a ${typeof value}`;
}

function queryValue(name: string, value: unknown): string {
  if (isDate(value)) {
    if (Number.isNaN(value.getTime())) {
      throw invalidRequest([{ field: name, message: 'is not a date' }]);
    }
    return value.toISOString();
  }
  if (typeof value === 'string') {
    return value;
  }
  // An options object in the place of the query would otherwise be sent.
  if (typeof value === 'object') {
    throw invalidRequest([
      { field: name, message: 'must be a string, a number, a boolean or a date' },
    ]);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw invalidRequest([{ field: name, message: `must be a number; got ${value}` }]);
  }
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw invalidRequest([{ field: name, message: `${notAnId}; got ${value}` }]);
  }
  return JSON.stringify(value);
}
