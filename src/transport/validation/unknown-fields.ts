import type { KnownFields } from '../../contract/schemas.js';
import { nearest } from '../../contract/nearest.js';

// Records that a service returned have them; they have no effect, as everybody expects.
const answerOnly = new Set(['id', 'createdAt', 'updatedAt', 'status', '_meta']);

/** A field that a document does not list, and the one that was probably meant. */
export interface StrangeField {
  readonly name: string;
  readonly meant: string | undefined;
}

/** The fields of a body that its document does not list. */
export function strangeFields(
  body: object,
  { names, aliases = {} }: KnownFields,
): readonly StrangeField[] {
  return Object.entries(body)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .map(([name]) => name)
    .filter((name) => !answerOnly.has(name))
    .map((name) => ({
      name,
      meant: Object.hasOwn(aliases, name) ? aliases[name] : nearest(name, names),
    }));
}

/** Warns of fields that the document does not show: they are sent, but may have no effect. */
export function unknownFieldWarnings(body: object, known: KnownFields): readonly string[] {
  return strangeFields(body, known).map(({ name, meant }) => {
    const hint = meant === undefined ? '' : ` Did you mean \`${meant}\`?`;
    return `\`${name}\` is not a documented field and may have no effect.${hint}`;
  });
}
