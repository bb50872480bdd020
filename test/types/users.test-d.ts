import type { User } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { Users } from 'postreel/messaging';

it('resolves to the user', () => {
  expectTypeOf<ReturnType<Users['me']>>().resolves.toEqualTypeOf<User>();
});
