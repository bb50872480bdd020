// Shared by every copy of the package in one process, so that `instanceof` agrees across
// the ESM build, the CommonJS build and duplicate installs.
const brand = Symbol.for('postreel.error');

/**
 * Marks a class so that `instanceof` recognises its instances from other copies of the package; the
 * names of the class, base first. Called for a static field: beside a statement of its own a bundler
 * would keep a class that is not used.
 */
export function branded(
  target: abstract new (...parameters: never) => Error,
  name: string,
): readonly string[] {
  // Its prototype has those of the class that it extends.
  const names: readonly string[] = [...brandsOf(target.prototype), name];
  Object.defineProperty(target.prototype, brand, { value: names });
  Object.defineProperty(target, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // A subclass that a user wrote has no brand of its own: the prototype chain decides.
      if (this !== target) {
        return isPrototypeOf(this, value);
      }
      return brandsOf(value).includes(name);
    },
  });
  Object.defineProperty(target.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  return names;
}

/** The names of the error classes that a value belongs to, base first; empty for anything else. */
export function brandsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) {
    return [];
  }
  const names: unknown = Reflect.get(value, brand);
  return Array.isArray(names) ? names.map(String) : [];
}

function isPrototypeOf(constructor: unknown, value: unknown): boolean {
  return typeof constructor === 'function' && typeof value === 'object' && value !== null
    ? Object.prototype.isPrototypeOf.call(constructor.prototype as object, value) // a class has one
    : false;
}
