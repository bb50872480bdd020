import { InvalidRequestError } from '../../core/errors.js';
import { isDate, isRecord } from '../../core/values.js';
import type { Filter } from './filter.js';
import { valueAt } from './value-at.js';

/** The fields of a contact that filters read. */
export interface FilterableContact {
  readonly email?: string | undefined;
  readonly subscribed?: boolean | undefined;
  readonly data?: object | null | undefined;
  readonly createdAt?: string | Date | undefined;
  readonly updatedAt?: string | Date | undefined;
}

/** How to evaluate a filter. */
export interface MatchOptions {
  /**
   * The present, for `within` and `olderThan`.
   * @default the current time
   */
  readonly now?: Date | undefined;
  /** Other fields than the contact's, such as those of an event; `undefined` for no such field. */
  readonly read?: ((field: string) => unknown) | undefined;
  /** Reads a larger structure than `{ and }` and `{ or }`, where the service has another. */
  readonly readGroup?: ((group: Filter) => FilterParts | undefined) | undefined;
  /** Assumptions of another evaluation that your service does not share: they are taken the other way. */
  readonly wrong?: readonly string[] | undefined;
}

/** A larger structure, taken apart. */
export type FilterParts = {
  readonly join: 'and' | 'or';
  readonly filters: readonly Filter[];
};

/** How a filter turned out, and what the service's document left open on the way. */
export interface FilterEvaluation {
  readonly matches: boolean;
  /** What had to be assumed; empty where the document has it all. */
  readonly assumptions: readonly string[];
}

/**
 * Evaluates a filter locally, as the document describes it: `equals`, `greaterThan`, `within` and
 * `olderThan`. Throws an `InvalidRequestError` for an operator or a structure that it cannot know.
 */
export function matches(
  filter: Filter,
  contact: FilterableContact,
  options?: MatchOptions,
): boolean {
  return evaluateFilter(filter, contact, options).matches;
}

/** The same with the assumptions that the result rests on. */
export function evaluateFilter(
  filter: Filter,
  contact: FilterableContact,
  options: MatchOptions = {},
): FilterEvaluation {
  const assumptions = new Set<string>();
  const result = evaluate(filter, {
    read: (field) => fieldOf(contact, field) ?? options.read?.(field),
    nowMs: (options.now ?? new Date()).getTime(),
    readGroup: options.readGroup ?? partsOf,
    assume(assumption) {
      assumptions.add(assumption);
      return !options.wrong?.includes(assumption);
    },
  });
  return { matches: result, assumptions: [...assumptions] };
}

interface Evaluation {
  readonly read: (field: string) => unknown;
  readonly nowMs: number;
  readonly readGroup: (group: Filter) => FilterParts | undefined;
  /** False when the service is known to do otherwise. */
  readonly assume: (assumption: string) => boolean;
}

function evaluate(filter: Filter, evaluation: Evaluation): boolean {
  if (isRecord(filter) && typeof filter['operator'] === 'string') {
    return evaluateElement(filter, evaluation);
  }
  const parts = evaluation.readGroup(filter);
  if (parts === undefined) {
    throw unknownFilter('`filter` has a structure that the service document does not show');
  }
  if (parts.filters.length === 0) {
    throw unknownFilter(`\`${parts.join}\` has no filters`);
  }
  if (!evaluation.assume(`several filters are joined as "${parts.join}"`)) {
    return false; // a group that the service does not understand matches nothing
  }
  const one = (part: Filter) => evaluate(part, evaluation);
  return parts.join === 'and' ? parts.filters.every(one) : parts.filters.some(one);
}

function partsOf(group: Filter): FilterParts | undefined {
  for (const join of ['and', 'or'] as const) {
    const filters: unknown = isRecord(group) ? group[join] : undefined;
    if (Array.isArray(filters)) {
      return { join, filters: filters as Filter[] }; // a group holds filters
    }
  }
  return undefined;
}

function evaluateElement(element: Record<string, unknown>, evaluation: Evaluation): boolean {
  const { field, operator, value, unit } = element;
  const actual = evaluation.read(String(field));
  switch (operator) {
    case 'equals':
      return isEqual(actual, value, evaluation);
    case 'greaterThan':
      return isGreater(actual, value, evaluation);
    case 'within':
    case 'olderThan':
      return isOfAge(actual, { operator, value, unit }, evaluation);
    default:
      throw unknownFilter(
        `\`operator\` ${JSON.stringify(operator)} is not in the service document`,
      );
  }
}

function isEqual(actual: unknown, value: unknown, { assume }: Evaluation): boolean {
  if (typeof actual === 'boolean' && typeof value !== 'boolean') {
    const isText = assume('a boolean field equals the text "true" or "false"');
    return isText && String(actual) === String(value);
  }
  return actual !== undefined && actual !== null && actual === value;
}

function isGreater(actual: unknown, value: unknown, { assume }: Evaluation): boolean {
  if (typeof actual === 'string' && typeof value === 'string') {
    return assume('texts are compared by their characters') && actual > value;
  }
  return typeof actual === 'number' && typeof value === 'number' && actual > value;
}

// "Date-aware segment operators (within, olderThan) need full ISO 8601 strings."
const fullDate = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

const unitsMs: Readonly<Record<string, number>> = {
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
};

function isOfAge(
  actual: unknown,
  span: { operator: 'within' | 'olderThan'; value: unknown; unit: unknown },
  { nowMs, assume }: Evaluation,
): boolean {
  const text = isDate(actual) ? actual.toISOString() : actual;
  if (typeof text !== 'string' || !fullDate.test(text) || typeof span.value !== 'number') {
    return false;
  }
  const unit = span.unit ?? 'days';
  const unitMs = typeof unit === 'string' ? unitsMs[unit] : undefined;
  if (unitMs === undefined) {
    throw unknownFilter(`\`unit\` ${JSON.stringify(unit)} is not known here`);
  }
  if (unit !== span.unit && !assume('a span without a unit is in days')) {
    return false;
  }
  if (unit !== 'days' && !assume(`the service knows the unit ${JSON.stringify(unit)}`)) {
    return false;
  }
  const ageMs = nowMs - Date.parse(text);
  if (ageMs < 0 && assume('a date in the future is neither within a span nor older than it')) {
    return false;
  }
  return span.operator === 'within' ? ageMs <= span.value * unitMs : ageMs > span.value * unitMs;
}

const standardFields = new Set(['email', 'subscribed', 'createdAt', 'updatedAt']);

function fieldOf(contact: FilterableContact, field: string): unknown {
  if (standardFields.has(field)) {
    return contact[field as keyof FilterableContact]; // one of its own
  }
  if (!field.startsWith('data.')) {
    return undefined;
  }
  const data = contact.data ?? {};
  return valueAt(data as Record<string, unknown>, field.slice('data.'.length)); // an object's fields
}

function unknownFilter(message: string): InvalidRequestError {
  return new InvalidRequestError(`The filter cannot be evaluated locally: ${message}.`, {
    code: 'FILTER_NOT_UNDERSTOOD',
    outcome: 'not-sent',
  });
}
