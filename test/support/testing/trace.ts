import {
  createFakeMedia,
  createFakeMessaging,
  type FakeMedia,
  type FakeMessaging,
  type FakeMessagingOptions,
  type MediaBehavior,
  type MessagingBehavior,
} from 'postreel/testing';
import { workflowTrace } from './workflow-trace.js';

type Fake = FakeMedia | FakeMessaging;

const start = Date.parse('2026-03-01T12:00:30.000Z');

/** When a fake gets its settings: with its making, or once it runs. */
type When = 'made' | 'running';

/** Everything that a fake of this world says to the same requests: statuses, headers, bytes. */
export async function messagingTrace(
  behavior: Partial<MessagingBehavior>,
  when: When = 'made',
): Promise<string[]> {
  const open = (options: FakeMessagingOptions = {}) => {
    const isMade = when === 'made';
    const made = createFakeMessaging({ clock: { start }, ...options, ...(isMade && { behavior }) });
    Object.assign(made.settings, behavior);
    return made;
  };
  const fake = open();
  const ask = asker(fake, fake.secretKey);
  const login = await fake.fetch(`${fake.baseUrl}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...fake.owner, login: fake.owner.email, secret: fake.owner.password }),
  });
  const said = [String(login.status), await login.text()];
  const seeded = fake.seed({ contacts: 3, templates: 3, campaigns: 3, segments: 1, events: 3 });
  const [contact] = seeded.contacts;
  const mail = { from: 'a@example.com', to: 'b@example.org', subject: 'Hi', body: 'Hi' };
  const campaign = {
    name: 'C',
    subject: 'Hi',
    body: 'Hi',
    from: 'a@example.com',
    audienceType: 'ALL',
  };
  const plan: [string, unknown?][] = [
    ['GET /contacts?limit=2'],
    ['GET /contacts?limit=100'],
    [`GET /contacts?limit=2&cursor=${btoa(seeded.contacts[1]!.id)}`],
    [`GET /contacts/${contact!.id}`],
    ['POST /contacts', { email: 'new@example.com' }],
    ['POST /contacts', { email: 'NEW@example.com' }],
    ['GET /contacts/con_nobody'],
    ['POST /contacts', {}],
    ['POST /contacts/bulk-subscribe', { contactIds: [contact!.id] }],
    ['GET /templates?limit=2'],
    ['GET /templates?limit=2&page=2'],
    ['POST /campaigns', campaign],
    ['GET /campaigns?limit=2'],
    ['GET /segments'],
    ['POST /v1/send', mail],
    ['POST /v1/send', { ...mail, attachments: [{ path: '/a' }] }],
    ['POST /v1/send', { ...mail, from: 'a@elsewhere.example' }],
    ['POST /v1/track', {}],
    ['POST /v1/verify', { email: 'ann@gmial.com' }],
    [`GET /events?startDate=${new Date(start + 1e9).toISOString()}`],
    ['GET /activity/types'],
    [`GET /projects/${fake.project.id}/members`],
    ['GET /users/@me'],
    ['DELETE /campaigns/cam_nobody'],
  ];
  for (const [endpoint, body] of plan) {
    said.push(await ask(endpoint, body));
  }
  said.push(await asker(fake, fake.publicKey)('GET /contacts'));
  const [draft] = fake.project.campaigns.values();
  draft!.status = 'DRAFT';
  const [gone] = seeded.contacts.slice(1);
  gone!.subscribed = false;
  said.push(await ask(`POST /campaigns/${draft!.id}/cancel`));
  said.push(await ask(`POST /campaigns/${draft!.id}/send`));
  await fake.advance('10s');
  said.push(await ask(`GET /campaigns/${draft!.id}`), String(fake.outbox.length));
  const job = [...fake.project.jobs.keys()][0] ?? 'job_none';
  said.push(await ask(`GET /contacts/bulk/${job}`));
  gone!.subscribed = false;
  said.push(await ask('POST /contacts', { email: gone!.email }));
  const segment = [...fake.project.segments.values()][0]!;
  segment.trackMembership = true;
  await ask(`POST /segments/${segment.id}/compute`);
  said.push(JSON.stringify(fake.project.events.map(({ name }) => name)));
  const other = open();
  const flows = await workflowTrace(other, asker(other, other.secretKey));
  return [...said, ...flows, ...(await limitTrace(open({ rateLimit: { limit: 3 } })))];
}

/** How requests are counted, and what a 429 says. */
async function limitTrace(fake: FakeMessaging): Promise<string[]> {
  const said: string[] = [];
  for (let round = 0; round < 4; round++) {
    for (let count = 0; count < 3; count++) {
      said.push(await asker(fake, fake.secretKey)('GET /segments'));
    }
    await fake.advance('19s');
  }
  return said;
}

/** The same for media. */
export async function mediaTrace(
  behavior: Partial<MediaBehavior>,
  when: When = 'made',
): Promise<string[]> {
  const callback = () => Promise.resolve(new Response());
  const isMade = when === 'made';
  const cdnUrl = 'https://cdn.example.com'; // its own would differ each time
  const given = { clock: { start }, cdnUrl, pendingLimit: 2, callback };
  const fake = createFakeMedia({ ...given, ...(isMade && { behavior }) });
  Object.assign(fake.settings, behavior);
  const ask = asker(fake, fake.apiKey);
  const speech = { content: 'Hi', voiceId: 'v', webhook: 'https://example.com/done' };
  const job = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'v' };
  const said = [
    await ask('POST /v1/generate/audio', speech),
    await ask('POST /v1/generate/video', { payload: [job] }),
    await ask('POST /v1/generate/video', { payload: [job] }),
    await ask('POST /v1/generate/video', { payload: [job, { ...job, voiceId: 1 }] }),
    await ask('POST /v1/generate/video', { payload: [] }),
    await ask('POST /v1/generate/video', { payload: [job], folderId: 'nobody' }),
    await asker(fake, 'wrong')('GET /v1/generate/status?fileId=x'),
    await ask('GET /v1/generate/status?fileId=nobody'),
  ];
  const audio = fake.files[0]!.fileId;
  for (const time of ['2s', '2s', '1s', '30s', '5m', '5m', '1m', '2h', '1s']) {
    said.push(await ask(`GET /v1/generate/status?fileId=${audio}`));
    said.push(await ask('POST /v1/generate/audio', { content: '' }));
    await fake.advance(time);
  }
  said.push(String(fake.callbacks.length), `${fake.files.length} files`);
  return said;
}

/** Asks by raw requests; ids in them are the fake's own, as a caller of the default world has them. */
function asker(fake: Fake, key: string) {
  return async (endpoint: string, body?: unknown): Promise<string> => {
    const [method = '', path = ''] = endpoint.split(' ');
    const request = new Request(fake.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await fake.handle(request);
    const head = `${endpoint} ${response.status} ${JSON.stringify([...response.headers])}`;
    return `${head} ${await piecesOf(response)}`;
  };
}

async function piecesOf(response: Response): Promise<string> {
  const pieces: string[] = [];
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(new TextDecoder('latin1').decode(piece));
    }
  } catch (error) {
    pieces.push(String(error));
  }
  return JSON.stringify(pieces);
}
