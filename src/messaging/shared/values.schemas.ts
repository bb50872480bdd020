import * as z from 'zod/mini';
import { largestPage, type KnownFields } from '../../core/call/route.js';
import { isDate, isRecord, type Timestamp } from '../../core/values.js';
import { limits } from '../limits.js';
import type { Filter } from './filters.js';
import { emailProblem, idProblem, normalizeEmail } from './values.js';

// Date.parse() accepts many texts that are not ISO 8601 date-times, and takes a time without a zone as local time.
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;

/** A record with undocumented fields: any object or list. */
export const open = z.custom<Record<string, unknown>>(
  (value: unknown) => typeof value === 'object' && value !== null,
  'must be an object',
);

/** A response whose fields the document does not show: a missing field is not a mismatch. */
export function makeLenient<Answer>(schema: z.ZodMiniObject): z.ZodMiniType<Answer> {
  return z.partial(schema) as unknown as z.ZodMiniType<Answer>; // the types show the usual fields
}

/** Returns the known fields of a body, for bodies of which the document lists all fields. */
export function knownOf(schema: { shape: object }): KnownFields {
  return { names: Object.keys(schema.shape) };
}

/** Selects contacts. Little is checked: the document shows only a single element. */
export const filter = z.custom<Filter>(isRecord, 'must be an object');

/** An id as a method returned it. */
export const id = z.custom<string>((value) => idProblem(value) === undefined, {
  error: ({ input }) => (input === '' ? 'must not be empty' : idProblem(input)),
});

/** An email address. */
export const email = z.string().check(checkEmail);

/** An email address that may be unset. Services use `null` or an empty string for that. */
export const optionalEmail = z
  .nullable(z.string())
  .check((context) => (context.value ? checkEmail(context) : undefined));

function checkEmail({ value, issues }: CheckedValue): void {
  const message = emailProblem(normalizeEmail(value)); // a program that uses the schema alone has not normalized it
  if (message !== undefined) {
    issues.push({ code: 'custom', message, input: value });
  }
}

/** The part of zod's check that an address needs. */
interface CheckedValue {
  readonly value: unknown;
  readonly issues: { push(issue: { code: 'custom'; message: string; input: unknown }): unknown };
}

// A line break in an email header would begin another header.
const isOneLine = (text: string) => !/[\r\n]/.test(text);
const noLineBreak = 'must not contain a line break';

/** The subject of an email. */
export const subject = z
  .string()
  .check(z.minLength(1), z.maxLength(limits.subjectLength), z.refine(isOneLine, noLineBreak));

/** A display name of an address. */
export const displayName = z.string().check(z.refine(isOneLine, noLineBreak));

/** The size of a page. */
export const limit = z.int().check(z.minimum(1), z.maximum(largestPage));

/** A timestamp, as a `Date` or an ISO 8601 string. */
export const timestamp = z.custom<Timestamp>((value) => timestampProblem(value) === undefined, {
  error: ({ input }) => timestampProblem(input),
});

function timestampProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && dateTime.test(`${value}Z`)) {
    return 'has no time zone: add `Z` or an offset such as `+01:00`';
  }
  const isTime = isDate(value) || (typeof value === 'string' && dateTime.test(value));
  if (!isTime || Number.isNaN(msOf(value))) {
    return 'must be a `Date`, or an ISO 8601 string with date, time and zone such as 2026-11-21T09:30:00Z';
  }
  // Date.parse() takes 30 February as 2 March.
  const day = typeof value === 'string' ? value.slice(0, 10) : undefined;
  return day === undefined || new Date(day).toISOString().startsWith(day)
    ? undefined
    : `names a day that does not exist: ${day}`;
}

/** A timestamp in milliseconds since 1970. */
export function msOf(time: Timestamp): number {
  return typeof time === 'string' ? Date.parse(time) : time.getTime();
}

// The document does not show the form of the times of a report, so only an invalid `Date` is rejected.
const time = z.custom<Timestamp>(
  (value) => !isDate(value) || !Number.isNaN(value.getTime()),
  'is not a date',
);
const period = { startDate: z.optional(time), endDate: z.optional(time) };

/** The query of a list whose parameters the document does not show. */
export const listQuery = z.looseObject({
  limit: z.optional(limit),
  cursor: z.optional(z.string()),
});

/** The query of a report. */
export const periodQuery = z.looseObject(period);

/** The query of a list over a span of time. */
export const periodListQuery = z.extend(listQuery, period);
