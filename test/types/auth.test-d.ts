import type { MessagingClient } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Auth } from 'postreel/messaging';
import type { routes } from '../../src/messaging/auth.js';

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

it('takes other names than ours, which no document gives', () => {
  void messaging.auth.login({ username: 'ann', password });
  void messaging.auth.resetPassword({ code: '123', password });
});

it('refuses what cannot be', () => {
  // @ts-expect-error -- a password is text
  void messaging.auth.login({ email, password: 7 });
  // @ts-expect-error -- the token is in a field
  void messaging.auth.verifyEmail('token');
});
