import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

/** A value as a test runner, a frame or a worker makes it: its class is another. */
const foreign = (code: string): unknown => runInNewContext(code);

const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const foreignDate = () => foreign(`new Date('${inAnHour}')`) as Date; // of its own realm
const png = [137, 80, 78, 71, 13, 10, 26, 10];

describe('a value of another realm works like one of this realm', () => {
  it('a date of a schedule, on the first call and on the second', async () => {
    const { fetch, requests } = answering();
    const { campaigns } = messagingOver(fetch);
    for (const call of [0, 1]) {
      await campaigns.send('cmp_1', { scheduledFor: foreignDate() });
      expect(await requests[call]?.json()).toEqual({ scheduledFor: inAnHour });
    }
  });

  it('a date in place of a body is rejected', async () => {
    const { fetch, requests } = answering();
    const call = messagingOver(fetch).campaigns.send('cmp_1', foreignDate() as never); // JavaScript
    await expect(call).rejects.toMatchObject({ outcome: 'not-sent' });
    expect(requests).toEqual([]);
  });

  it('a date of a query, and an invalid one', async () => {
    const { fetch, requests } = answering();
    const { events } = messagingOver(fetch);
    await events.list({ startDate: foreignDate() });
    expect(new URL(requests[0]!.url).searchParams.get('startDate')).toBe(inAnHour);
    const never = foreign('new Date(NaN)') as Date; // of its own realm
    await expect(events.list({ startDate: never })).rejects.toMatchObject({ outcome: 'not-sent' });
    expect(requests).toHaveLength(1);
  });

  it('dates and numbers of custom fields', async () => {
    const { fetch, requests } = answering();
    const data = foreign(`({ at: new Date('${inAnHour}'), list: [1] })`) as object; // a literal
    await messagingOver(fetch).contacts.create({ email: 'ann@example.com', data });
    expect(await requests[0]?.json()).toMatchObject({ data: { at: inAnHour, list: [1] } });
  });

  it.each([
    ['an ArrayBuffer', `new Uint8Array([${png.join()}]).buffer`],
    ['a Uint8Array', `new Uint8Array([${png.join()}])`],
  ])('bytes: %s is an image, and an attachment', async (_, code) => {
    const { fetch, requests } = answering();
    const messaging = messagingOver(fetch);
    const bytes = foreign(code) as Uint8Array; // or a buffer, which is taken alike
    await messaging.uploads.image(bytes);
    const image = (await requests[0]!.formData()).get('image') as File; // a form has a file
    expect(image.type).toBe('image/png');
    expect([...new Uint8Array(await image.arrayBuffer())]).toEqual(png);
    await messaging.send({
      from: 'shop@example.com',
      to: 'ann@example.com',
      subject: 'Hi',
      body: 'Hi',
      attachments: [{ filename: 'a.png', content: bytes }],
    });
    const sent = (await requests[1]!.json()) as { attachments: { content: string }[] }; // our body
    expect(sent.attachments[0]?.content).toBe(Buffer.from(png).toString('base64'));
  });

  it('rows and pieces of an import', async () => {
    const texts: string[] = [];
    const { fetch } = answering(async (request) => {
      if (request.method === 'GET') {
        return { status: 'completed' };
      }
      const file = (await request.formData()).get('file') as File; // a form has a file
      texts.push(await file.text());
      return { jobId: 'job_1' };
    });
    const { contacts } = messagingOver(fetch);
    const rows = [{ email: 'ann@example.com', joined: foreignDate() }];
    await contacts.importAll(rows, { newContacts: 'subscribed' });
    const piece = foreign(
      `Uint8Array.from('email\\nbob@example.com\\n', (letter) => letter.charCodeAt(0))`,
    ) as Uint8Array; // of its own realm
    await contacts.importAll(
      (async function* () {
        yield await Promise.resolve(piece);
      })(),
      { newContacts: 'subscribed' },
    );
    expect(texts[0]).toContain(inAnHour);
    expect(texts[1]).toContain('bob@example.com');
  });
});

describe('an error of another realm, as in Jest, works like one of this realm', () => {
  it('a refused connection keeps its code and its cause', async () => {
    const refused = foreign(`
      const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:80'), { code: 'ECONNREFUSED' });
      new TypeError('fetch failed', { cause })`) as TypeError; // of its own realm
    const call = messagingOver(() => Promise.reject(refused), { retries: 0 }).users.me();
    const error = await call.catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      message: expect.stringContaining('(ECONNREFUSED)') as string,
      outcome: 'not-sent',
      cause: { message: 'fetch failed', cause: { code: 'ECONNREFUSED' } },
    });
    expect((error as Error).cause).toBeInstanceOf(Error); // as matched
  });

  it('a failing `apiKey` function keeps its reason', async () => {
    const closed = foreign(`new Error('the vault is closed')`) as Error; // of its own realm
    const messaging = messagingOver(fetch, { apiKey: () => Promise.reject(closed) });
    const error = await messaging.users.me().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ cause: { message: 'the vault is closed' } });
    expect(JSON.stringify(error)).toContain('the vault is closed');
  });
});
