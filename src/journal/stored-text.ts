/* eslint-disable no-control-regex -- it is about the characters that a store cannot keep */

/**
 * A key as a store of UTF-8 keeps it: U+0000 and halves of surrogate pairs are no text there, and
 * characters beyond ASCII would be listed in another order than that of code units.
 */
export function storedKey(key: string): string {
  return key.replace(/[\0\x01~-\uffff]/g, (unit) =>
    unit < '\x02' ? `\x01${unit.charCodeAt(0)}` : `~${hex(unit)}`,
  );
}

/** The key of a stored one. */
export function keyOf(stored: string): string {
  return stored.replace(/\x01([01])|~([0-9a-f]{4})/g, (_, low?: string, high?: string) =>
    String.fromCharCode(low === undefined ? parseInt(high ?? '', 16) : Number(low)),
  );
}

/** A value as a store of UTF-8 keeps it. */
export function storedValue(value: string): string {
  return value.replace(
    /[\0\x01]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (unit) => `\x01${hex(unit)}`,
  );
}

/** The value of a stored one. */
export function valueOf(stored: string): string {
  return stored.replace(/\x01([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
}

function hex(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, '0');
}
