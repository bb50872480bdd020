import { MessagingClient } from 'postreel';
import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { call, ok, someText } from '../../support/testing/messaging-call.js';

describe('messaging, Errors', () => {
  it('the envelope has every field of the table', async () => {
    const fake = createFakeMessaging();
    const { status, body } = await call(fake, 'POST /contacts', { body: {} });
    expect(status).toBe(422);
    expect(body).toEqual({
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        message: someText,
        statusCode: 422,
        requestId: someText,
        errors: [{ field: 'email', message: 'is required.', code: 'required' }],
        suggestion: someText,
      },
      timestamp: fake.clock.date().toISOString(),
    });
  });

  it('every refusal has a request id of its own', async () => {
    const fake = createFakeMessaging();
    const first = await call(fake, 'GET /contacts/x');
    const second = await call(fake, 'GET /contacts/x');
    expect(first.body.error.requestId).not.toBe(second.body.error.requestId);
  });

  it.each([400, 401, 403, 404, 409, 422, 429, 500])(
    'a fault with the status %i has the error body of the documents',
    async (status) => {
      const fake = createFakeMessaging();
      fake.fail('GET /contacts', { status, times: 2 });
      const { body } = await call(fake, 'GET /contacts');
      expect(body).toMatchObject({ success: false, error: { code: someText, statusCode: status } });
      fake.settings.errorShape = 'bare';
      expect((await call(fake, 'GET /contacts')).body).toEqual({ error: someText });
    },
  );

  it('a fault with a status that the documents do not name, or with an empty body, has no body', async () => {
    const fake = createFakeMessaging();
    fake.fail('GET /contacts', { status: 503 });
    fake.fail('GET /contacts', { status: 404, body: '' });
    const ask = () =>
      fake.fetch(`${fake.baseUrl}/contacts`, {
        headers: { authorization: `Bearer ${fake.secretKey}` },
      });
    const first = await ask();
    expect([first.status, await first.text()]).toEqual([503, '']);
    const second = await ask();
    expect([second.status, await second.text()]).toEqual([404, '']);
  });

  it('field-level details name every wrong field', async () => {
    const body = { email: 'ann', subscribed: 1, data: 1 };
    const answer = await call(createFakeMessaging(), 'POST /contacts', { body });
    expect(answer.body.error.errors).toHaveLength(3);
  });

  it.each(['/v1/send', '/v1/verify'])(
    'errorShape legacy: %s answers the flat body',
    async (path) => {
      const fake = createFakeMessaging({ errorShape: 'legacy' });
      const { body } = await call(fake, `POST ${path}`, { body: {} });
      expect(body).toEqual({
        code: 422,
        error: 'VALIDATION_ERROR',
        message: someText,
        time: fake.clock.now(),
      });
    },
  );

  it('errorShape legacy: other endpoints keep the envelope', async () => {
    const fake = createFakeMessaging({ errorShape: 'legacy' });
    expect((await call(fake, 'POST /v1/track', { body: {} })).body.success).toBe(false);
  });

  it('errorShape bare: only a text', async () => {
    const fake = createFakeMessaging({ errorShape: 'bare' });
    const { body } = await call(fake, 'GET /contacts/x');
    expect(body).toEqual({ error: 'x does not exist.' });
  });

  it('400: a body that is no JSON', async () => {
    const fake = createFakeMessaging();
    const response = await fake.fetch(`${fake.baseUrl}/contacts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fake.secretKey}`, 'content-type': 'application/json' },
      body: '{"email":',
    });
    expect(response.status).toBe(400);
  });

  it('400: a body that is no object', async () => {
    expect((await call(createFakeMessaging(), 'POST /contacts', { body: [] })).status).toBe(400);
  });

  it.each(['GET /nowhere', 'PUT /contacts'])('404: %s is not in the table', async (endpoint) => {
    expect((await call(createFakeMessaging(), endpoint)).status).toBe(404);
  });

  it('429: a rate limit', async () => {
    const fake = createFakeMessaging({ rateLimit: { limit: 0 } });
    const { status, headers } = await call(fake, 'GET /contacts');
    expect([status, headers.has('retry-after')]).toEqual([429, true]);
  });
});

describe('createFakeMessaging', () => {
  it('serves every messaging endpoint of the table', () => {
    expect(createFakeMessaging().endpoints).toHaveLength(112);
  });

  it('reset starts anew, with the same keys', async () => {
    const fake = createFakeMessaging();
    const { secretKey } = fake;
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' } });
    fake.settings.errorShape = 'bare';
    fake.reset();
    expect([fake.project.contacts.size, fake.requests, fake.outbox]).toEqual([0, [], []]);
    expect([fake.secretKey, fake.settings.errorShape]).toEqual([secretKey, 'envelope']);
  });
});

it('a refusal names its field once in the error of a client', async () => {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({ ...fake.options, validation: { requests: 'off' } });
  const error = await messaging.contacts.create({ email: 'no address' }).then(() => '', String);
  expect(error.match(/`email`/g)).toHaveLength(1);
});
