import { isRecord } from '../../core/values.js';

/**
 * Does a filter, or a part of it, select nothing in particular? A service may well take that for
 * everybody. Of larger structures only this is known: lists and objects hold their parts.
 */
export function isEmptyFilter(filter: unknown): boolean {
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
