import type { KnownFields } from '../../contract/schemas.js';
import { nearest } from '../../contract/nearest.js';

// Records that a service returned have them; they have no effect, as everybody expects.
const answerOnly = new Set(['id', 'createdAt', 'updatedAt', 'status', '_meta']);

/** Warns of fields that the document does not show: they are sent, but may have no effect. */
export function unknownFieldWarnings(
  body: object,
  { names, aliases = {} }: KnownFields,
): readonly string[] {
  const strange = Object.entries(body)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .map(([name]) => name)
    .filter((name) => !answerOnly.has(name));
  return strange.map((name) => {
    const meant = Object.hasOwn(aliases, name) ? aliases[name] : nearest(name, names);
    const hint = meant === undefined ? '' : ` Did you mean \`${meant}\`?`;
    return `\`${name}\` is not a documented field and may have no effect.${hint}`;
  });
}

/** The field that somebody seems to have misspelled when this one is missing. */
export function misspelled(field: string, body: unknown): string | undefined {
  const written = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  return written.find((name) => name !== field && nearest(name, [field]) !== undefined);
}
