import { ConflictError, type MessagingClient } from 'postreel';
import { allowed, bar, chapter, say } from './terminal.js';

const sender = process.env['DEMO_FROM'] ?? 'shop@example.com';
const recipient = process.env['DEMO_TO'] ?? 'ann@example.com';

/** Sends, verifies, tracks. */
export async function sendMail(messaging: MessagingClient, isReal: boolean): Promise<void> {
  chapter('Send a mail, check an address, track an event');
  if (await allowed(`This mails ${recipient}`, isReal)) {
    const { emails } = await messaging.send({
      from: { name: 'Shop', email: sender },
      to: recipient,
      subject: 'Your order is on its way',
      body: '<p>Hello {{name ?? "there"}}!</p>',
      data: { name: 'Ann', plan: 'pro' },
    });
    say(`sent to ${emails.map(({ contact }) => contact.email).join(', ')}`);
  }
  const check = await messaging.verify({ email: 'ann@mailinator.com' });
  say(`ann@mailinator.com: ${check.isDisposable ? 'a disposable address' : 'fine'}`);
  const event = await messaging.track({ email: recipient, event: 'order_placed' });
  say(`tracked order_placed at ${event.timestamp}`);
}

/** Imports a file and reads it back. */
export async function importContacts(messaging: MessagingClient): Promise<void> {
  chapter('Import 1 000 contacts, then read them page by page');
  const rows = Array.from(
    { length: 1000 },
    (_, n) => `demo${n}@example.org,${n % 2 ? 'pro' : 'free'}`,
  );
  const { jobId } = await messaging.contacts.import({
    data: `email,plan\n${rows.join('\n')}\n`,
    filename: 'people.csv',
  });
  await messaging.contacts.waitForImport(jobId, {
    interval: 200,
    onUpdate: ({ progress, status }) => bar('import', Number(progress ?? 0), status ?? ''),
  });
  bar('import', 1, 'done');
  let count = 0;
  for await (const { email } of messaging.contacts.list({ search: '@example.org' })) {
    if (email) {
      count++;
    }
  }
  say(`read ${count} contacts`);
}

/** Runs a campaign. */
export async function runCampaign(messaging: MessagingClient, isReal: boolean): Promise<void> {
  chapter('Run a campaign and read its figures');
  const segment = await messaging.segments.create({
    name: 'Pro customers',
    type: 'DYNAMIC',
    condition: { field: 'data.plan', operator: 'equals', value: 'pro' },
    trackMembership: true,
  });
  const { memberCount } = await messaging.segments.get(segment.id);
  say(`segment "Pro customers" has ${memberCount} members`);
  const campaign = await messaging.campaigns.create({
    name: 'Spring',
    subject: 'Spring is here',
    body: '<p>Hello!</p>',
    from: sender,
    audienceType: 'SEGMENT',
    segmentId: segment.id,
  });
  if (!(await allowed(`This mails ${memberCount} contacts`, isReal))) {
    return;
  }
  await messaging.campaigns.send(campaign.id);
  await messaging.campaigns.delete(campaign.id).catch((error: unknown) => {
    if (error instanceof ConflictError) {
      say('it cannot be deleted while it is being sent (409)');
    } else {
      throw error;
    }
  });
  for (let look = 0; look < 50; look++) {
    const { status } = await messaging.campaigns.get(campaign.id);
    if (status !== 'SENDING') {
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  say(`figures: ${JSON.stringify(await messaging.campaigns.stats(campaign.id))}`);
}
