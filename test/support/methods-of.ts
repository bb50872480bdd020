/** The names of every method of a client or of a part of one, e.g. `messaging.contacts.deleteAll`. */
export function methodsOf(root: object, name: string): Map<string, object> {
  const owners = new Map<string, object>();
  const seen = new Set<object>();
  const walk = (owner: object, path: string) => {
    if (seen.has(owner)) {
      return;
    }
    seen.add(owner);
    for (const key of namesIn(owner)) {
      const value: unknown = Reflect.get(owner, key);
      if (typeof value === 'function') {
        owners.set(`${path}.${key}`, owner);
      } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
        walk(value, `${path}.${key}`);
      }
    }
  };
  walk(root, name);
  return owners;
}

// Methods of the class and of those it extends, and what an instance holds itself.
function namesIn(owner: object): string[] {
  const names = new Set(Object.keys(owner));
  let prototype = Object.getPrototypeOf(owner) as object | null;
  while (prototype && prototype !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      names.add(name);
    }
    prototype = Object.getPrototypeOf(prototype) as object | null;
  }
  names.delete('constructor');
  return [...names];
}
