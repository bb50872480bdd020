import type { Domain, MessagingClient, Paginated } from 'postreel';
import { expectTypeOf, it } from 'vitest';

declare const messaging: MessagingClient;

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
