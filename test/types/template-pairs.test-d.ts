import { defineTemplate, type MessagingClient } from 'postreel';

// Each kind of template × each client × each place that takes its message.
interface Fields {
  plan: 'free' | 'pro';
  seats: number;
}
declare const typed: MessagingClient<Fields>;
declare const untyped: MessagingClient;
declare const text: string;

const from = 'shop@example.com';
const to = 'ann@example.com';
const audience = { name: 'News', from, audienceType: 'ALL' } as const;
const subject = 'Hi';

const plain = defineTemplate('<p>{{plan}}</p>');
const content = defineTemplate({ subject: 'Hi {{name}}', body: '<p>{{plan ?? "free"}}</p>' });
const service = defineTemplate(
  '{{email}} {{plan}} <a href="{{unsubscribeUrl}}">{{manageUrl ?? "x"}}</a>',
);
const loose = defineTemplate(text);

const plainMessage = plain.message({ plan: 'pro' });
const contentMessage = content.message({ name: 'Ann', plan: 'pro' });
const serviceMessage = service.message({ plan: 'pro' });
const looseMessage = loose.message({ plan: 'pro', seats: 3 });

export const sends = [
  ...[typed, untyped].flatMap((client) => [
    client.send({ from, to, subject, ...plainMessage }),
    client.send({ from, to, ...contentMessage }),
    client.send({ from, to, subject, ...serviceMessage }),
    client.send({ from, to, subject, ...looseMessage }),
  ]),
];
export const typedSends = [
  typed.send({ from, to, subject, ...plainMessage }),
  typed.send({ from, to, ...contentMessage }),
  typed.send({ from, to, subject, ...serviceMessage }),
  typed.send({ from, to, subject, ...looseMessage }),
  typed.sendEach([to], { from, subject, ...plainMessage }),
  typed.sendEach([to], { from, ...contentMessage }),
  typed.sendEach([to], { from, subject, ...serviceMessage }),
  typed.sendEach([to], { from, subject, ...looseMessage }),
];
export const untypedSends = [
  untyped.sendEach([to], { from, subject, ...plainMessage }),
  untyped.sendEach([to], { from, ...contentMessage }),
  untyped.sendEach([to], { from, subject, ...serviceMessage }),
  untyped.sendEach([to], { from, subject, ...looseMessage }),
];
export const campaigns = [
  typed.campaigns.create({ ...audience, subject, body: plain.text }),
  typed.campaigns.create({ ...audience, subject: content.subject, body: content.body }),
  untyped.campaigns.create({ ...audience, subject, body: service.text }),
  typed.campaigns.create({ ...audience, subject, body: service.text }),
  typed.campaigns.create({ ...audience, subject, body: loose.text }),
  untyped.campaigns.create({ ...audience, subject, body: plain.text }),
  untyped.campaigns.create({ ...audience, subject: content.subject, body: content.body }),
  untyped.campaigns.create({ ...audience, subject, body: loose.text }),
  ...[typed, untyped].flatMap((client) => [
    client.campaigns.preview('cmp_1', { plan: 'pro' }),
    client.campaigns.preview('cmp_1', { name: 'Ann', unsubscribeUrl: 'https://example.com' }),
  ]),
];
const own = [{ email: to, data: { plan: 'free' } }, to] as const;
export const rowsWithData = [plainMessage, serviceMessage].flatMap((body) => [
  typed.sendEach(own, { from, subject, ...body }),
  untyped.sendEach(own, { from, subject, ...body }),
]);
export const previews = [
  plain.render({ plan: 'pro' }),
  content.render({ name: 'Ann' }),
  service.render({ plan: 'pro' }),
  service.render({ plan: 'pro', unsubscribeUrl: 'https://example.com', email: to }),
  loose.render({ anything: 1 }),
];

// @ts-expect-error -- the service fills in `email` itself and drops what is sent
service.message({ plan: 'pro', email: to });
// @ts-expect-error -- a variable without a fallback is required
content.message({ plan: 'pro' });
// @ts-expect-error -- a name that the template does not ask for is a slip
content.message({ name: 'Ann', paln: 'pro' });
// @ts-expect-error -- not one of the plans of the typed client
void typed.send({ from, to, subject, ...plain.message({ plan: 'gold' }) });
