import type { MessagingClient } from 'postreel';
import { it } from 'vitest';

declare const messaging: MessagingClient;

const email = 'ann@example.com';
const password = 'correct horse';

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
