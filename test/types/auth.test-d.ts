import type { MessagingClient } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/contract/methods.js';
import type { Auth } from '../../src/messaging/auth/resource.js';
import type { routes } from '../../src/messaging/auth/routes.js';

type Rows = MethodsFor<typeof routes>;

declare const messaging: MessagingClient;

const email = 'ann@example.com';
const password = 'correct horse';

it('has exactly the methods of its rows', () => {
  expectTypeOf<Auth['login']>().toEqualTypeOf<Rows['login']>();
  expectTypeOf<Auth['signup']>().toEqualTypeOf<Rows['signup']>();
  expectTypeOf<Auth['logout']>().toEqualTypeOf<Rows['logout']>();
  expectTypeOf<Auth['oauthConfig']>().toEqualTypeOf<Rows['oauthConfig']>();
  expectTypeOf<Auth['verifyEmail']>().toEqualTypeOf<Rows['verifyEmail']>();
  expectTypeOf<Auth['requestVerification']>().toEqualTypeOf<Rows['requestVerification']>();
  expectTypeOf<Auth['requestPasswordReset']>().toEqualTypeOf<Rows['requestPasswordReset']>();
  expectTypeOf<Auth['resetPassword']>().toEqualTypeOf<Rows['resetPassword']>();
});

it('takes what the service may want beside', () => {
  void messaging.auth.signup({ email, password, name: 'Ann' });
});

it('refuses half of what a call needs', () => {
  // @ts-expect-error -- no password
  void messaging.auth.login({ email });
  // @ts-expect-error -- no email
  void messaging.auth.signup({ password });
  // @ts-expect-error -- no token
  void messaging.auth.resetPassword({ password });
  // @ts-expect-error -- the token is in a field
  void messaging.auth.verifyEmail('token');
});
