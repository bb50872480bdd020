import type { Domain, MessagingClient, Paginated } from 'postreel';
import { expectTypeOf, it } from 'vitest';
import type { MethodsFor } from '../../src/core/call/route.js';
import type { Domains } from 'postreel/messaging';
import type { routes } from '../../src/messaging/domains.js';

type Rows = MethodsFor<typeof routes>;

declare const messaging: MessagingClient;

it('has exactly the methods of its rows', () => {
  expectTypeOf<Domains['list']>().toEqualTypeOf<Rows['list']>();
  expectTypeOf<Domains['create']>().toEqualTypeOf<Rows['create']>();
  expectTypeOf<Domains['verify']>().toEqualTypeOf<Rows['verify']>();
  expectTypeOf<Domains['delete']>().toEqualTypeOf<Rows['delete']>();
});

it('lists the domains of one project', () => {
  expectTypeOf(messaging.domains.list('prj_1')).toEqualTypeOf<Paginated<Domain>>();
  // @ts-expect-error -- whose domains?
  messaging.domains.list();
});

it('adds a domain with whatever else the service takes', () => {
  void messaging.domains.create({ domain: 'shop.example.com' });
  void messaging.domains.create({ domain: 'shop.example.com', projectId: 'prj_1', region: 'eu' });
  void messaging.domains.create({ name: 'shop.example.com' });
  // @ts-expect-error -- a domain is text
  void messaging.domains.create({ domain: new URL('https://shop.example.com') });
});
