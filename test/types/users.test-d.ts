import type { User } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Users } from 'postreel/messaging';
import type { routes } from '../../src/messaging/users.js';

type Rows = MethodsFor<typeof routes>;

it('has exactly the methods of its rows', () => {
  expectTypeOf<Users['me']>().toEqualTypeOf<Rows['me']>();
  expectTypeOf<ReturnType<Users['me']>>().resolves.toEqualTypeOf<User>();
});
