import type { Call, SendRequest, VideoJob } from 'postreel';
import type { Fault } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { arrivals, serve } from '../../support/fake-server.js';
import { settled } from '../../support/settled.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};
const event = { email: 'ann@example.com', event: 'signed_up' };
const video: VideoJob = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Cats',
  voiceId: 'voice_1',
};
const campaign = {
  name: 'Spring',
  subject: 'Hi',
  body: '<p>Hi</p>',
  from: 'shop@example.com',
  audienceType: 'ALL' as const,
};

describe('a response that is lost after the effect', () => {
  it('leaves one mail and an unknown outcome', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { loseAnswer: true, times: 9 });
    await expectUnknown(messaging().send(mail));
    expect(fake.outbox).toHaveLength(1);
  });

  it('leaves one tracked event and an unknown outcome', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/track', { loseAnswer: true, times: 9 });
    await expectUnknown(messaging().track(event));
    expect(fake.project.events).toHaveLength(1);
  });

  it('leaves one video and an unknown outcome', async () => {
    const { media, fakeMedia } = await serve();
    fakeMedia.fail('POST /v1/generate/video', { loseAnswer: true, times: 9 });
    await expectUnknown(media().generate.video({ payload: [video] }));
    expect(arrivals(fakeMedia.requests, 'POST /v1/generate/video')).toBe(1);
  });

  it('leaves one audio and an unknown outcome', async () => {
    const { media, fakeMedia } = await serve();
    fakeMedia.fail('POST /v1/generate/audio', { loseAnswer: true, times: 9 });
    await expectUnknown(media().generate.audio({ content: 'Hello', voiceId: 'voice_1' }));
    expect(arrivals(fakeMedia.requests, 'POST /v1/generate/audio')).toBe(1);
  });

  it('leaves one sent campaign and an unknown outcome', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    await client.contacts.create({ email: 'ann@example.com', subscribed: true });
    const { id } = await client.campaigns.create(campaign);
    fake.fail('POST /campaigns/{id}/send', { loseAnswer: true, times: 9 });
    await expectUnknown(client.campaigns.send(id));
    expect(arrivals(fake.requests, 'POST /campaigns/{id}/send')).toBe(1);
    expect(fake.outbox).toHaveLength(1);
  });

  it('leaves one workflow execution and an unknown outcome', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    const { id: contactId } = await client.contacts.create({ email: 'ann@example.com' });
    const { id } = await client.workflows.create({ name: 'Welcome', eventName: 'signed_up' });
    await client.workflows.steps.create(id, { type: 'DELAY', config: { duration: '1d' } });
    await client.workflows.update(id, { enabled: true });
    fake.fail('POST /workflows/{id}/executions', { loseAnswer: true, times: 9 });
    await expectUnknown(client.workflows.executions.start(id, { contactId }));
    expect(arrivals(fake.requests, 'POST /workflows/{id}/executions')).toBe(1);
    await expect(client.workflows.executions.list(id).toArray()).resolves.toHaveLength(1);
  });
});

describe('a mail whose response is unusable', () => {
  const kinds: [string, Fault, number][] = [
    ['breaks off in the middle', { truncate: true }, 1],
    ['stalls until the timeout', { stall: true }, 1],
    ['never comes until the timeout', { hang: true }, 0],
    ['is broken JSON', { malformed: true }, 1],
    ['is the page of a gateway', { html: true }, 0],
    ['is 408', { status: 408 }, 0],
    ['is 500', { status: 500 }, 0],
    ['is 503', { status: 503 }, 0],
  ];

  it.each(kinds)('is not sent again if it %s', async (_, fault, mails) => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { ...fault, times: 9 });
    await expectUnknown(messaging({ timeout: 1_000 }).send(mail));
    expect(arrivals(fake.requests, 'POST /v1/send')).toBe(1);
    expect(fake.outbox).toHaveLength(mails);
  });
});

describe('a rejected call', () => {
  it.each([400, 401, 403, 404, 405, 409, 410, 413, 422, 451])(
    'with %i has the outcome `rejected`, and is not repeated',
    async (status) => {
      const { fetch, requests } = answering(() => new Response(null, { status }));
      const call = messagingOver(fetch).send(mail);
      await expect(call).rejects.toMatchObject({ status, outcome: 'rejected' });
      expect(call.outcome).toBe('rejected');
      expect(requests).toHaveLength(1);
    },
  );

  it('with HTTP 200 has the outcome `rejected`', async () => {
    const { fetch } = answering(() => ({ success: false, error: { code: 'NO', message: 'No' } }));
    await expect(messagingOver(fetch).send(mail)).rejects.toMatchObject({
      name: 'ApiError',
      code: 'NO',
      status: 200,
      outcome: 'rejected',
    });
  });

  it.each([
    ['one', 500, 'unknown'],
    ['one', 408, 'unknown'],
    ['one', 403, 'rejected'],
    ['two', 403, 'rejected'],
    ['two', 429, 'unknown'],
    ['two', 500, 'unknown'],
    ['two', undefined, 'unknown'], // some of the recipients may have got the mail
    ['two', '403', 'unknown'],
  ] as const)('with HTTP 200, %s, and %s in its body is %s', async (to, statusCode, outcome) => {
    const { fetch, requests } = answering(() => ({ success: false, error: { statusCode } }));
    const several = to === 'two' ? ['ann@example.com', 'bob@example.com'] : mail.to;
    const call = messagingOver(fetch).send({ ...mail, to: several });
    await expect(call).rejects.toMatchObject({ status: 200, outcome });
    expect(requests).toHaveLength(1);
  });

  it('that only reads has the outcome `rejected` for any status', async () => {
    const { fetch } = answering(() => new Response(null, { status: 500 }));
    const call = messagingOver(fetch, { retries: 0 }).contacts.get('con_1');
    await expect(call).rejects.toMatchObject({ status: 500, outcome: 'rejected' });
  });

  it('that is a repeat stays unknown if the response to the attempt before it was lost', async () => {
    const answers = [new Response(null, { status: 500 }), new Response(null, { status: 404 })];
    const { fetch } = answering(() => answers.shift());
    const call = messagingOver(fetch).contacts.update('con_1', { subscribed: false });
    await expect(call).rejects.toMatchObject({ status: 404, outcome: 'unknown' });
    expect(call.outcome).toBe('unknown');
  });
});

describe('a mail to several recipients', () => {
  const many = { ...mail, to: ['ann@example.com', 'bea@example.com'] };

  it.each([429, 408, 500])('is unknown after %i, and never sent again', async (status) => {
    const { fetch, requests } = answering(
      () => new Response(null, { status, headers: { 'Retry-After': '0' } }),
    );
    const call = messagingOver(fetch).send(many);
    await expect(call).rejects.toMatchObject({ status, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('is rejected after 422', async () => {
    const { fetch } = answering(() => new Response(null, { status: 422 }));
    await expect(messagingOver(fetch).send(many)).rejects.toMatchObject({ outcome: 'rejected' });
  });
});

describe('a call that the caller allows to happen twice', () => {
  it('is repeated after an unknown outcome, and no other call is', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { loseAnswer: true });
    const client = messaging();
    await client.send(mail, { retry: { unknownOutcome: true } });
    expect(fake.outbox).toHaveLength(2);
    fake.fail('POST /v1/send', { loseAnswer: true });
    await expectUnknown(client.send(mail));
    expect(fake.outbox).toHaveLength(3);
  });
});

describe('a call that was certainly not made', () => {
  it('has the outcome `not-sent` if the connection is refused', async () => {
    const { messaging, server } = await serve();
    const client = messaging({ retries: 0 });
    await server.close();
    const call = client.send(mail);
    await expect(call).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'NOT_CONNECTED',
      outcome: 'not-sent',
    });
    expect(call.outcome).toBe('not-sent');
  });

  it('has the outcome `not-sent` if the host name is not found', async () => {
    const { messaging } = await serve();
    const client = messaging({ baseUrl: 'https://nobody.invalid', retries: 0 });
    await expect(client.send(mail)).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      outcome: 'not-sent',
    });
  });

  it('is repeated also if it is a mail', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    let attempts = 0;
    const client = messagingOver(() => {
      attempts++;
      if (attempts < 3) {
        return Promise.reject(new TypeError('fetch failed', { cause: refused }));
      }
      return Promise.resolve(Response.json({ success: true, data: { emails: [] } }));
    });
    await expect(client.send(mail)).resolves.toMatchObject({ emails: [] });
    expect(attempts).toBe(3);
  });

  it('has the outcome `not-sent` if it is aborted in the queue', async () => {
    const { messaging, fake } = await serve();
    const client = messaging({ rateLimit: { limit: 1, windowMs: 3_600_000, group: 'aborted' } });
    await client.contacts.list();
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    call.catch(() => undefined);
    await expect.poll(() => client.rateLimit.state()?.queued).toBe(1);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('not-sent');
    expect(arrivals(fake.requests, 'POST /v1/send')).toBe(0);
  });

  it("has the outcome `not-sent` if the client's checks reject it", async () => {
    const { fetch, requests } = answering(() => ({}));
    const call = messagingOver(fetch).send({ ...mail, to: 'nobody' });
    await expect(call).rejects.toMatchObject({ outcome: 'not-sent' });
    expect(call.outcome).toBe('not-sent');
    expect(requests).toEqual([]);
  });
});

async function expectUnknown(call: Call<unknown>): Promise<void> {
  const { error } = await settled(() => call);
  expect(error).toMatchObject({ outcome: 'unknown' });
  expect(call.outcome).toBe('unknown');
}
