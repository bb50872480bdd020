import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Config } from 'postreel/messaging';
import type { routes } from '../../src/messaging/config.js';

type Rows = MethodsFor<typeof routes>;

it('has exactly the methods of its rows', () => {
  expectTypeOf<Config['get']>().toEqualTypeOf<Rows['get']>();
});
