// Sends a newsletter to a segment: previewed, tested, scheduled and watched until it is sent.
import { MessagingClient, where } from 'postreel';

const { campaigns, contacts, segments } = new MessagingClient();
await contacts.upsert({ email: 'ann@example.com', data: { plan: 'pro' } });

const { id: segmentId } = await segments.create({
  name: 'Pro customers',
  type: 'DYNAMIC',
  condition: where('data.plan').equals('pro'),
});
await segments.refresh(segmentId);
console.log(`${(await segments.get(segmentId)).memberCount} readers`);

const { id } = await campaigns.create({
  name: 'News of March',
  subject: 'News for {{plan ?? "you"}}',
  body: '<p>Spring is here.</p>',
  from: 'shop@example.com',
  audienceType: 'SEGMENT',
  segmentId,
});
await campaigns.edit(id, (draft) => {
  draft.subject = `${draft.subject}, in March`;
});
console.log((await campaigns.preview(id)).subject);
await campaigns.sendTest(id, { email: 'me@example.com' });

await campaigns.schedule(id, new Date(Date.now() + 120_000)); // in two minutes
const { status } = await campaigns.waitUntilSent(id, {
  onUpdate: (campaign) => console.log(`now ${campaign.status}`),
});
console.log(status, await campaigns.stats(id));
