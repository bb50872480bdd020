import type { MessagingClient } from 'postreel';
import { it } from 'vitest';

declare const messaging: MessagingClient;

interface Address {
  city: string;
  zip?: string;
}
interface Person {
  plan: 'free' | 'pro';
  seats: number;
  since: Date;
  address: Address;
  addresses: Address[];
  nickname: string | null;
}
declare const person: Person;
declare const address: Address;

const email = 'ann@example.com';
const content = { from: 'shop@example.com', to: email, subject: 'Hi', body: '<p>Hi</p>' };

it('takes interfaces as custom fields, nested ones too', () => {
  void messaging.contacts.create({ email, data: person });
  void messaging.contacts.create({ email, data: { ...person, boss: person } });
  void messaging.contacts.update('con_1', { data: { address, all: [address] } });
  void messaging.send({ ...content, data: person });
  void messaging.track({ email, event: 'paid', data: { address } });
});

it('takes interfaces as attachments, configurations, contexts and conditions', () => {
  interface Attached {
    filename: string;
    content: string;
  }
  interface Delay {
    duration: string;
    only: Address;
  }
  interface Condition {
    all: Delay[];
  }
  const attached: Attached = { filename: 'a.txt', content: 'aGk=' };
  const delay: Delay = { duration: '1h', only: address };
  const condition: Condition = { all: [delay] };
  const campaign = { name: 'Spring', subject: 'Hi', body: 'Hi', from: 'shop@example.com' };
  void messaging.send({ ...content, attachments: [attached] });
  void messaging.workflows.steps.create('wf_1', { type: 'DELAY', config: delay });
  void messaging.workflows.executions.start('wf_1', { contactId: 'con_1', context: delay });
  void messaging.segments.create({ type: 'DYNAMIC', condition });
  void messaging.segments.update('seg_1', { condition });
  void messaging.campaigns.create({
    ...campaign,
    audienceType: 'FILTERED',
    audienceFilter: condition,
  });
});

it('takes interfaces as bodies and queries that the document leaves open', () => {
  interface Settings {
    name: string;
    locale: string;
  }
  interface Period {
    startDate: Date;
    endDate: Date;
  }
  const settings: Settings = { name: 'Shop', locale: 'en' };
  const period: Period = { startDate: new Date(), endDate: new Date() };
  void messaging.projects.update('prj_1', settings);
  void messaging.projects.billing.setLimits('prj_1', settings);
  void messaging.workflows.create(settings);
  void messaging.analytics.timeseries(period);
});

it('keeps the reserved keys a compile error', () => {
  interface Row extends Person {
    id: string;
  }
  const row: Row = { ...person, id: '42' };
  // @ts-expect-error -- the service drops `id`
  void messaging.contacts.create({ email, data: row });
  // @ts-expect-error -- the service drops `id`
  void messaging.send({ ...content, data: row });
});

it('refuses what is no object of fields', () => {
  // @ts-expect-error -- an array
  void messaging.contacts.update('con_1', { data: [address] });
  // @ts-expect-error -- a function
  void messaging.contacts.update('con_1', { data: () => person });
  // @ts-expect-error -- a promise that was not awaited
  void messaging.contacts.update('con_1', { data: Promise.resolve(person) });
  // @ts-expect-error -- a Map is empty as JSON
  void messaging.contacts.update('con_1', { data: new Map([['plan', 'pro']]) });
  // @ts-expect-error -- nested, a big number has no JSON
  void messaging.contacts.update('con_1', { data: { address: { zip: 7n } } });
  // @ts-expect-error -- a date alone is no body
  void messaging.workflows.create(new Date());
  // @ts-expect-error -- the emails are in a field
  void messaging.contacts.lookup(['ann@example.com']);
});
