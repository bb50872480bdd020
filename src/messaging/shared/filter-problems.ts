import { isRecord } from '../../core/values.js';

const standardFields = new Set(['id', 'email', 'subscribed', 'createdAt', 'updatedAt']);

/** Why a field selects nobody: custom fields have a prefix. */
export function fieldProblem(field: unknown): string | undefined {
  const isPlain = typeof field === 'string' && !field.includes('.');
  return isPlain && !standardFields.has(field)
    ? `"${field}" is no field of a contact: a custom field is \`data.${field}\``
    : undefined;
}

/** Why a filter selects nobody, or everybody; `undefined` where it may be right. `everybody` is the hint. */
export function filterProblem(filter: unknown, everybody: string): string | undefined {
  return isEmptyFilter(filter)
    ? `must not be empty: it may select everybody; ${everybody}`
    : problemIn(filter);
}

function problemIn(part: unknown): string | undefined {
  if (Array.isArray(part)) {
    return part.map(problemIn).find((problem) => problem !== undefined);
  }
  if (!isRecord(part)) {
    return undefined;
  }
  if (typeof part['field'] !== 'string' || typeof part['operator'] !== 'string') {
    return problemIn(Object.values(part));
  }
  const value = part['value'];
  const hasNoValue =
    ['equals', 'greaterThan', 'within', 'olderThan'].includes(part['operator']) &&
    (value === undefined || value === null || value === '');
  return (
    fieldProblem(part['field']) ??
    (hasNoValue ? `\`${part['field']}\` is compared with no value: it selects nobody` : undefined)
  );
}

/**
 * Does a filter, or a part of it, select nothing in particular? A service may well take that for
 * everybody. Of larger structures only this is known: lists and objects hold their parts.
 */
function isEmptyFilter(filter: unknown): boolean {
  if (!isRecord(filter) || typeof filter['field'] === 'string') {
    return false;
  }
  const values = Object.values(filter).filter((value) => value !== undefined && value !== null);
  const parts = values.filter((value) => typeof value === 'object');
  if (parts.length === 0) {
    return values.length === 0;
  }
  return parts.every(isEmptyPart) || parts.some(hasEmptyItem);
}

function isEmptyPart(part: unknown): boolean {
  return Array.isArray(part) ? part.length === 0 || hasEmptyItem(part) : isEmptyFilter(part);
}

function hasEmptyItem(part: unknown): boolean {
  return Array.isArray(part) && part.some(isEmptyFilter);
}
