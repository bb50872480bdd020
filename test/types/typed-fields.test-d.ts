import { MessagingClient, clear, filters, transient } from 'postreel';
import { expectTypeOf, it } from 'vitest';

interface Fields {
  plan: 'free' | 'pro';
  seats: number;
  isAdmin: boolean;
  trialEnds: Date;
}
const messaging = new MessagingClient<Fields>({ apiKey: null, baseUrl: 'https://api.test' });
const other = new MessagingClient<{ colour: string }>({ apiKey: null, baseUrl: 'https://b.test' });

const email = 'ann@example.com';
const content = { from: 'shop@example.com', to: email, subject: 'Hi', body: '<p>Hi</p>' };
const campaign = { name: 'Spring', subject: 'Hi', body: 'Hi', from: 'shop@example.com' };

it('types the custom fields that are written', () => {
  const data = { plan: 'pro', seats: 3, trialEnds: new Date() } as const;
  void messaging.contacts.create({ email, data });
  void messaging.contacts.update('con_1', { data: { plan: null, seats: clear() } });
  void messaging.send({ ...content, data: { plan: transient('free') } });
  void messaging.track({ email, event: 'paid', data });
  void messaging.events.track({ email, event: 'paid', data });
  // @ts-expect-error -- no such plan
  void messaging.contacts.create({ email, data: { plan: 'gold' } });
  // @ts-expect-error -- no such field
  void messaging.contacts.update('con_1', { data: { paln: 'pro' } });
  // @ts-expect-error -- a number
  void messaging.send({ ...content, data: { seats: '3' } });
  // @ts-expect-error -- no such plan
  void messaging.send({ ...content, data: { plan: transient('gold') } });
  // @ts-expect-error -- no such field
  void messaging.track({ email, event: 'paid', data: { colour: 'red' } });
  // @ts-expect-error -- transient() has no effect on a contact
  void messaging.contacts.update('con_1', { data: { plan: transient('pro') } });
});

it('refuses the reserved keys, also those that the fields name', () => {
  const reserved = new MessagingClient<{ id: string; plan: string }>({ apiKey: null });
  void reserved.contacts.create({ email, data: { plan: 'pro' } });
  // @ts-expect-error -- the service drops `id`
  void reserved.contacts.create({ email, data: { id: '42' } });
  // @ts-expect-error -- the service drops `manageUrl`
  void messaging.contacts.update('con_1', { data: { manageUrl: 'x' } });
});

it('types the custom fields that are read', async () => {
  const contact = await messaging.contacts.get('con_1');
  expectTypeOf(contact.data?.plan).toEqualTypeOf<'free' | 'pro' | undefined>();
  expectTypeOf(contact.data?.trialEnds).toEqualTypeOf<string | undefined>(); // ISO 8601
  // @ts-expect-error -- no such field
  console.log(contact.data?.colour);
  for await (const { data } of messaging.contacts.list()) {
    expectTypeOf(data?.seats).toEqualTypeOf<number | undefined>();
  }
  const [member] = await messaging.segments.members.list('seg_1').toArray();
  expectTypeOf(member?.data?.isAdmin).toEqualTypeOf<boolean | undefined>();
  await messaging.contacts.create(contact);
  await messaging.contacts.update(contact.id, { ...contact, subscribed: false });
});

it('types the filters of segments and campaigns', () => {
  const condition = { field: 'data.seats', operator: 'greaterThan', value: 3 } as const;
  void messaging.segments.create({ type: 'DYNAMIC', condition });
  void messaging.segments.update('seg_1', {
    condition: { field: 'createdAt', operator: 'within', value: 30, unit: 'days' },
  });
  void messaging.campaigns.create({
    ...campaign,
    audienceType: 'FILTERED',
    audienceFilter: { all: [condition] },
  });
  const { where, and } = filters<Fields>();
  const pros = where('data.plan').equals('pro');
  void messaging.segments.create({ type: 'DYNAMIC', condition: pros });
  void messaging.segments.create({ type: 'DYNAMIC', condition: and(pros) });
  void messaging.segments.create({
    type: 'DYNAMIC',
    // @ts-expect-error -- no such field
    condition: { field: 'data.colour', operator: 'equals', value: 'red' },
  });
  void messaging.segments.update('seg_1', {
    // @ts-expect-error -- seats are numbers
    condition: { field: 'data.seats', operator: 'equals', value: 'many' },
  });
});

it('keeps projects of one program apart', () => {
  void other.contacts.create({ email, data: { colour: 'red' } });
  // @ts-expect-error -- a field of the other project
  void other.contacts.create({ email, data: { plan: 'pro' } });
  expectTypeOf(other.with({ retries: 0 })).toEqualTypeOf(other);
});

it('changes nothing for clients without types', () => {
  const plain = new MessagingClient({ apiKey: null });
  void plain.contacts.create({ email, data: { anything: 1, at: { all: true } } });
  expectTypeOf(plain).toEqualTypeOf<MessagingClient>();
});

it('lets functions take a client whatever its fields are', async () => {
  async function greet<Any extends object>(client: MessagingClient<Any>): Promise<string> {
    await client.send(content);
    await client.track({ email, event: 'greeted' });
    await client.contacts.create({ email });
    const contact = await client.contacts.get('con_1');
    return contact.email;
  }
  const first = async (client: MessagingClient) => (await client.contacts.list()).items[0];
  await greet(messaging);
  await greet(new MessagingClient());
  await first(new MessagingClient());
});
