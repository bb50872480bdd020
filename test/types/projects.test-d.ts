import type { MessagingClient } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Projects } from 'postreel/messaging';
import type { routes } from '../../src/messaging/projects.js';

type Rows = MethodsFor<typeof routes>;

declare const messaging: MessagingClient;

it('swaps the key of the client where that is asked for', () => {
  type Regenerate = Projects['regenerateKeys'];
  expectTypeOf<Regenerate>().toExtend<Rows['regenerateKeys']>();
  expectTypeOf<ReturnType<Regenerate>>().toEqualTypeOf<ReturnType<Rows['regenerateKeys']>>();
  void messaging.projects.regenerateKeys('prj_1', { swapKey: true, timeout: 5_000 });
  // @ts-expect-error -- a switch, not a key
  void messaging.projects.regenerateKeys('prj_1', { swapKey: 'sk_new' });
});

it('takes bodies that may be left out, and fields of your own', () => {
  void messaging.projects.reset('prj_1');
  void messaging.projects.reset('prj_1', { confirm: 'Shop' });
  void messaging.projects.billing.createCheckout('prj_1', { plan: 'pro' });
  void messaging.projects.create({ name: 'Shop', language: 'en' });
  void messaging.projects.members.invite('prj_1', { email: 'bob@example.com', role: 'ADMIN' });
});

it('refuses calls that say too little', () => {
  // @ts-expect-error -- which project?
  void messaging.projects.reset();
  // @ts-expect-error -- a name is text
  void messaging.projects.create({ name: 7 });
  // @ts-expect-error -- what are the limits?
  void messaging.projects.billing.setLimits('prj_1');
  // @ts-expect-error -- whose role?
  void messaging.projects.members.updateRole('prj_1', { role: 'ADMIN' });
  // @ts-expect-error -- what about the role?
  void messaging.projects.members.updateRole('prj_1', 'usr_1');
});
