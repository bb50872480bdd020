import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from 'postreel/testing';
import { faces, newContact, type Face } from '../support/testing/faces.js';

describe.each(Object.entries(faces))('%s', (_name, open) => {
  let face: Face;
  beforeEach(async () => {
    face = await open();
  });
  afterEach(() => face.stop());

  const post = (init: RequestInit = {}) =>
    face.fetch(`${face.messaging.baseUrl}/contacts`, { ...newContact(face.messaging), ...init });

  /** What the fake did and what the caller got, under a fault. */
  async function under(fault: Fault): Promise<{ failed: boolean; answered: number | undefined }> {
    face.messaging.fail('POST /contacts', fault);
    const failed = await post().then(
      () => false,
      (error: unknown) => error instanceof TypeError,
    );
    return { failed, answered: await count() };
  }

  async function count(): Promise<number> {
    const response = await face.fetch(`${face.messaging.baseUrl}/contacts?search=ann@`, {
      headers: { authorization: `Bearer ${face.messaging.secretKey}` },
    });
    const list = (await response.json()) as { data: unknown[] }; // as: the documented list
    return list.data.length;
  }

  it('answers', async () => {
    const response = await post();
    expect(response.status).toBeLessThan(300);
    expect(await response.json()).toMatchObject({ email: 'ann@example.com' });
    expect(await count()).toBe(1);
  });

  it('hands over the query, headers and body of a request', async () => {
    await face.fetch(`${face.messaging.baseUrl}/contacts?a=b%20c`, newContact(face.messaging));
    expect(face.messaging.requests[0]).toMatchObject({
      method: 'POST',
      path: '/contacts',
      query: { a: 'b c' },
      body: { email: 'ann@example.com' },
      headers: { authorization: `Bearer ${face.messaging.secretKey}` },
    });
  });

  it('takes multipart bodies', async () => {
    const body = new FormData();
    body.set('file', new File(['email\nbob@example.com'], 'contacts.csv', { type: 'text/csv' }));
    const response = await post({
      body,
      headers: { authorization: `Bearer ${face.messaging.secretKey}` },
    });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const form = face.messaging.requests[0]?.body;
    expect(form).toBeInstanceOf(FormData);
  });

  it('answers errors', async () => {
    const response = await post({ headers: {} });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ success: false });
  });

  it('status: answers without effect', async () => {
    face.messaging.fail('POST /contacts', { status: 503, retryAfter: 2, body: 'busy' });
    const response = await post();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.text()).toBe('busy');
    expect(await count()).toBe(0);
  });

  it('drop: the connection breaks, without effect', async () => {
    expect(await under({ drop: true })).toEqual({ failed: true, answered: 0 });
  });

  it('loseAnswer: the connection breaks after the effect', async () => {
    expect(await under({ loseAnswer: true })).toEqual({ failed: true, answered: 1 });
  });

  it('hang: no answer until the caller gives up, without effect', async () => {
    face.messaging.fail('POST /contacts', { hang: true });
    await expect(post({ signal: AbortSignal.timeout(100) })).rejects.toThrow(/timeout|aborted/i);
    expect(await count()).toBe(0);
  });

  it('slow: the answer comes late, by the time of the fake', async () => {
    const { clock } = face.messaging;
    face.messaging.fail('POST /contacts', { slow: 60 });
    const start = clock.now();
    expect((await post()).status).toBeLessThan(300);
    expect(clock.now() - start).toBeGreaterThanOrEqual(60);
  });

  it('truncate: half of the answer arrives, after the effect', async () => {
    face.messaging.fail('POST /contacts', { truncate: true });
    const response = await post();
    const length = Number(response.headers.get('content-length'));
    let read = 0;
    const readAll = async () => {
      for await (const chunk of response.body!) {
        read += chunk.length;
      }
    };
    await expect(readAll()).rejects.toThrow();
    expect(read).toBe(Math.floor(length / 2));
    expect(await count()).toBe(1);
  });

  it('malformed: broken JSON, after the effect', async () => {
    face.messaging.fail('POST /contacts', { malformed: true });
    const response = await post();
    expect(response.headers.get('content-type')).toBe('application/json');
    await expect(response.json()).rejects.toThrow(SyntaxError);
    expect(await count()).toBe(1);
  });

  it('html: the page of a gateway, without effect', async () => {
    face.messaging.fail('POST /contacts', { html: true });
    const response = await post();
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(await response.text()).toContain('<html>');
    expect(await count()).toBe(0);
  });

  it('generates and downloads', async () => {
    const { media } = face;
    const headers = {
      authorization: `Bearer ${media.apiKey}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ content: 'Bees fly.', voiceId: 'voice_1' });
    await face.fetch(`${media.baseUrl}/v1/generate/audio`, { method: 'POST', headers, body });
    const status = `${media.baseUrl}/v1/generate/status?fileId=file_000001`;
    const response = await face.fetch(status, { headers });
    const { download } = (await response.json()) as { download: string }; // as: it is finished
    const whole = await face.fetch(download);
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(media.contentOf('file_000001'));
    const part = await face.fetch(download, { headers: { range: 'bytes=1000-' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1007/1008']);
  });
});
