import { fingerprint } from '../contract/fingerprint.js';

const maxPartLength = 200;

/** Joins parts to one name of printable ASCII; whatever they hold, different parts make different names. */
export function nameOf(parts: readonly string[]): string {
  return parts.map(escaped).join('/');
}

function escaped(part: string): string {
  // By code unit: half of a surrogate pair is no text to most stores.
  const text = part.replace(
    /[^!-~]|[%/]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Postgres indexes short keys only.
  return text.length > maxPartLength ? `${text.slice(0, 150)}%%${fingerprint(part)}` : text;
}
