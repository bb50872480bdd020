import { isPostreelError } from 'postreel';
import { expect } from 'vitest';
import type { Subject } from './exceptions.js';

/** One value that each option may have; an option without one does not compile. */
export type Samples<Options> = { readonly [Name in keyof Required<Options>]: unknown };

export interface Door<Options> {
  readonly name: string;
  readonly samples: Samples<Options>;
  /** The options that it cannot do without. */
  readonly needs?: Partial<Options>;
  /** Is `null` as if it were left out? Else it is refused. */
  readonly nullIsAbsent?: boolean;
  /** Is an error of another kind one of the entry point's own? */
  readonly isOwn?: (failure: unknown) => boolean;
  /** What a refusal calls an option instead of its name. */
  readonly words?: Partial<Record<keyof Options, string>>;
  /** The options that take what is no value of theirs, with the reason. */
  readonly means?: Partial<Record<keyof Options, readonly string[]>>;
  readonly open: (options: Options) => unknown;
}

class Odd {
  get x(): never {
    throw new TypeError('raw');
  }
}

/** What JavaScript may pass. */
const oddities: Record<string, () => unknown> = {
  null: () => null,
  NaN: () => NaN,
  '-1': () => -1,
  "''": () => '',
  "'x'": () => 'x',
  "'false'": () => 'false',
  '[]': () => [],
  '{}': () => ({}),
  'a function': () => () => true,
  'a symbol': () => Symbol('x'),
  '2^53': () => 2 ** 53,
  'a proxy that throws': () =>
    new Proxy({}, { get: fails, has: fails, ownKeys: fails, getPrototypeOf: fails }),
  'a promise': () => Promise.resolve(1),
  'a date': () => new Date(0),
  'an object that throws': () => new Odd(),
  'a text with toString': () => ({ toString: fails, valueOf: fails }),
};

/** What no option takes, unless its row says what it means there. */
const nowhere: readonly string[] = ['null', 'NaN', "''"];

export function fails(): never {
  throw new TypeError('raw');
}

/** Every option of every place that takes some, each with every odd value. */
export function subjectsOf<Options extends object>(door: Door<Options>): Subject[] {
  const names = Object.keys(door.samples) as (keyof Options & string)[]; // of an object literal
  return names.map((name) => ({
    name: `${door.name}: ${name}`,
    check: async () => {
      const sample = door.samples[name];
      const isSwitch = typeof sample === 'boolean';
      const allowed = door.means?.[name] ?? [];
      const endOf = async (options: object) =>
        endIn(() => door.open({ ...door.needs, ...options } as Options), door.isOwn); // on purpose
      const open = async (value: unknown) => endOf({ [name]: value });
      if (door.needs && name in door.needs) {
        expect(await open(undefined), 'undefined is refused by name').toContain(name);
      } else {
        expect(await open(undefined), 'undefined is as absent').toEqual(await endOf({}));
      }
      for (const [label, make] of Object.entries(oddities)) {
        const end = await open(make());
        expect(end, `${label} is no raw error`).not.toMatch(/^raw/);
        if (!allowed.includes(label) && (isSwitch || nowhere.includes(label))) {
          if (label === 'null' && door.nullIsAbsent) {
            expect(end, 'null is as absent').toEqual(await open(undefined));
          } else {
            expect(end, `${label} is refused by name`).toMatch(
              new RegExp(`(${name}\`?|${door.words?.[name] ?? name}) (must|is|needs) `),
            );
          }
        }
      }
      const getter = { ...door.needs };
      Object.defineProperty(getter, name, { get: fails, enumerable: true });
      const end = await endIn(() => door.open(getter as Options), door.isOwn); // on purpose
      expect(end, 'a getter that throws is refused by name').toContain(name);
      expect(end, 'a getter that throws').not.toMatch(/^raw/);
    },
  }));
}

/** How a call ended: `ok`, or its error; one that is not ours is `raw`. */
async function endIn(
  run: () => unknown,
  isOwn: (failure: unknown) => boolean = isPostreelError,
): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (failure) {
    return isOwn(failure) ? (failure as Error).message : `raw ${String(failure)}`;
  }
}
