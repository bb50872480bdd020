// Sends a newsletter to a segment. A second run finds the campaign by its name and does not send it again.
// Run: npx tsx --env-file=.env 26-newsletter.ts
import { MessagingClient, where } from 'postreel';

const { campaigns, contacts, segments } = new MessagingClient();
await contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });

const allSegments = await segments.list().toArray();
const { id: segmentId } =
  allSegments.find(({ name }) => name === 'Pro customers') ??
  (await segments.create({
    name: 'Pro customers',
    type: 'DYNAMIC',
    condition: where('data.plan').equals('pro'),
  }));
await segments.refresh(segmentId);
console.log(`${(await segments.get(segmentId)).memberCount} readers`);

const allCampaigns = await campaigns.list().toArray();
const { id, status } =
  allCampaigns.find(({ name }) => name === 'News of March') ??
  (await campaigns.create({
    name: 'News of March',
    subject: 'News for {{plan ?? "you"}}',
    body: '<p>Spring is here.</p>',
    from: 'shop@example.com',
    audienceType: 'SEGMENT',
    segmentId,
  }));
if (status === 'DRAFT') {
  console.log((await campaigns.preview(id)).subject);
  await campaigns.schedule(id, new Date(Date.now() + 120_000)); // in two minutes
}
console.log('waiting until the campaign is sent');
await campaigns.waitUntilSent(id, {
  onUpdate: (campaign) => console.log(`now ${campaign.status}`),
});
console.log(await campaigns.stats(id));
