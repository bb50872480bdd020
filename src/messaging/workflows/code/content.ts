import { isRecord } from '../../../core/values.js';

/** The fields of a body or a record. */
export type Fields = Readonly<Record<string, unknown>>;

/** A value as JSON with the fields of each object in the order of their names: equal content, equal text. */
export function jsonOf(value: unknown): string {
  const order = (_name: string, field: unknown) => (isRecord(field) ? sorted(field) : field);
  return JSON.stringify(value, order);
}

/** The fields that `jsonOf()` has written. */
export function fieldsOf(json: string): Fields {
  return JSON.parse(json) as Fields; // as it was written
}

/** Is this the same content, as the service gets it? */
export function isSame(one: unknown, other: unknown): boolean {
  return jsonOf(one) === jsonOf(other);
}

/** Is all of this content in the value? A service may add defaults of its own. */
export function contains(value: unknown, content: unknown): boolean {
  if (!isRecord(content)) {
    return isSame(value, content);
  }
  return (
    isRecord(value) &&
    Object.entries(content).every(([name, field]) => contains(fieldOf(value, name), field))
  );
}

/** The fields of a record that have these names. */
export function pick(record: object, names: Iterable<string>): Fields {
  const own = [...new Set(names)].filter((name) => Object.hasOwn(record, name));
  return Object.fromEntries(own.map((name) => [name, fieldOf(record, name)]));
}

/** Fields laid over others: the last ones win. */
export function overlaid(...layers: readonly (object | undefined)[]): Fields {
  return Object.fromEntries(layers.flatMap((layer) => Object.entries(layer ?? {})));
}

/** The names of fields that differ, with those inside `config` and other objects: `config.subject`. */
export function differences(before: Fields, after: Fields, names: readonly string[]): string[] {
  return names
    .filter((name) => !isSame(fieldOf(before, name), fieldOf(after, name)))
    .flatMap((name) => {
      const [one, other] = [fieldOf(before, name), fieldOf(after, name)];
      if (!isRecord(one) || !isRecord(other)) {
        return [name];
      }
      const inner = [...new Set([...Object.keys(one), ...Object.keys(other)])];
      return inner
        .filter((field) => !isSame(fieldOf(one, field), fieldOf(other, field)))
        .map((field) => `${name}.${field}`);
    });
}

/** A field of an object's own: a step may be called `constructor`. */
export function fieldOf(record: object, name: string): unknown {
  return Object.hasOwn(record, name) ? (record as Fields)[name] : undefined; // any object has fields
}

// By code units: the same on every machine.
function sorted(record: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(record).sort();
  return Object.fromEntries(names.map((name) => [name, record[name]]));
}
