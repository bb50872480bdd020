// The main job, against fakes of both services: an email, an event that starts a workflow, a list,
// and a video. `npm run demo` builds the package and runs this; nothing leaves the machine.
import { mkdtemp, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MediaClient, MessagingClient } from 'postreel';
import { saveTo } from 'postreel/node';
import { createClock, startFakeServer } from 'postreel/testing';

// A minute of the services is a second here.
const clock = createClock({ mode: 'real', speed: 60 });
const fake = await startFakeServer({ messaging: { clock }, media: { clock } });
fake.messaging.seed({ contacts: 250 });
const { messagingUrl, mediaUrl } = fake;
const messaging = new MessagingClient({ apiKey: fake.messaging.secretKey, baseUrl: messagingUrl });
const media = new MediaClient({ apiKey: fake.media.apiKey, baseUrl: mediaUrl });
console.log(`This demo sends an email, starts a workflow, reads a list, and makes a video.
Fakes of both services run at ${fake.url}, so nothing leaves this machine. It takes about a minute.
`);

try {
  const { emails } = await messaging.send({
    from: { name: 'Shop', email: 'shop@example.com' },
    to: 'ann@example.com',
    subject: 'Your order is on its way',
    body: '<p>Hello {{name ?? "there"}}!</p>',
    data: { name: 'Ann' },
  });
  tell('email', `sent to ${emails[0]?.contact.email}`);

  const { workflows } = messaging;
  const { id } = await workflows.create({ name: 'Thanks', eventName: 'ordered' });
  const config = { subject: 'Thank you', body: '<p>Thank you for your order.</p>' };
  const thanks = await workflows.steps.create(id, { type: 'SEND_EMAIL', config });
  const exit = await workflows.steps.create(id, { type: 'EXIT' });
  await workflows.transitions.create(id, { fromStepId: thanks.id, toStepId: exit.id });
  await workflows.update(id, { enabled: true });
  await messaging.track({ email: 'ann@example.com', event: 'ordered' });
  const execution = await workflows.executions.list(id).first();
  tell('event', `"ordered" started the workflow "Thanks": ${execution?.status ?? 'not started'}`);

  let subscribers = 0;
  for await (const { subscribed } of messaging.contacts.list()) {
    subscribers += subscribed ? 1 : 0;
  }
  tell('list', `${subscribers} subscribers among the contacts, read page by page`);

  const job = await media.generate.video({
    workflowType: 'idea',
    prompt: 'Why cats purr',
    voiceId: 'voice_1',
  });
  const file = await job.waitForFile({
    interval: 1000, // by default a video is checked every 10 s
    onUpdate: ({ status, progress }) => tell('video', `${status}, ${progress ?? 0} %`),
  });
  const path = join(await mkdtemp(join(tmpdir(), 'postreel-demo-')), `${job.fileId}.mp4`);
  await saveTo(file, path);
  tell('', `saved ${path}, ${(await stat(path)).size} bytes`);
} finally {
  await fake.close();
}
console.log(`
Next: \`npx postreel fake\` keeps such fakes running, with a page that shows what they received.
The README has programs to run against them.`);

function tell(what: string, text: string): void {
  console.log(`${what.padEnd(7)}${text}`);
}
