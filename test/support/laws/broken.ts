/** The methods of a journal. */
export const journalVerbs = [
  'putIfAbsent',
  'put',
  'get',
  'list',
  'delete',
  'now',
  'flush',
] as const;

/** How a store fails. */
export const storeFaults: Readonly<Record<string, () => Promise<never>>> = {
  rejects: () => Promise.reject(new Error('gone')),
  throws: () => {
    throw new Error('gone');
  },
  hangs: () => never(),
};

/** It never comes to an end. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** The same store, but one of its methods fails from a use on. */
export function breaking<Store extends object>(
  store: Store,
  verb: keyof Store,
  fail: () => unknown,
  from = 0,
): Store {
  let uses = 0;
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (name !== verb || typeof value !== 'function') {
        return value;
      }
      return (...given: unknown[]): unknown => {
        uses += 1;
        return uses > from ? fail() : Reflect.apply(value, target, given);
      };
    },
  });
}
