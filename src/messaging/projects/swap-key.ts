import { isRecord } from '../../core/values.js';

// What the service nests deeper is no answer to a call for two keys.
const deepest = 4;

/**
 * Finds the new key in the answer to `regenerateKeys()`: the first other string with the prefix of
 * the current key. The service does not document the fields of this answer.
 */
export function findNewKey(keys: unknown, current: string): string | undefined {
  const prefix = /^[a-z]+_/.exec(current)?.[0];
  if (prefix === undefined) {
    return undefined;
  }
  const isNewKey = (text: string) => text.startsWith(prefix) && text !== current && isKey(text);
  return textsIn(keys, deepest).find(isNewKey);
}

function isKey(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function textsIn(value: unknown, depth: number): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  if (depth === 0 || !(isRecord(value) || Array.isArray(value))) {
    return [];
  }
  return Object.values(value).flatMap((inner) => textsIn(inner, depth - 1));
}
