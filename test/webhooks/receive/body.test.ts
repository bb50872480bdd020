import { runInNewContext } from 'node:vm';
import { WebhookVerificationError } from 'postreel';
import { verifyWebhook } from 'postreel/webhooks';
import { describe, expect, it, vi } from 'vitest';
import { parseCallback } from '../../../src/webhooks/receive/callback-body.js';
import {
  callbackRequest,
  secret,
  signAddress,
  successBody,
} from '../../support/webhooks/callbacks.js';
import fc from '../../support/property.js';

const id = fc.string({ minLength: 1 });
const extra = fc.dictionary(
  fc.string().filter((name) => !['success', 'data', 'id', 'file', '__proto__'].includes(name)),
  fc.jsonValue({ maxDepth: 2 }),
  { maxKeys: 3 },
);

/** Parses a body, or returns the code of the error. */
function read(body: unknown): unknown {
  try {
    return parseCallback(body);
  } catch (error) {
    if (error instanceof WebhookVerificationError) {
      return error.code;
    }
    throw error;
  }
}

describe('the body of a callback', () => {
  it('is accepted with any undocumented fields', () => {
    fc.assert(
      fc.property(id, fc.webUrl(), extra, extra, (fileId, file, outside, inside) => {
        const body = { ...outside, success: true, data: { ...inside, id: fileId, file } };
        const result = { fileId, status: 'success', url: file };
        expect(read(body)).toEqual({ ...result, raw: body });
        expect(read(JSON.stringify(body))).toMatchObject(result);
      }),
    );
  });

  it('is read as a failure whatever its other fields are', () => {
    fc.assert(
      fc.property(id, extra, fc.jsonValue(), (fileId, outside, file) => {
        const body = { ...outside, success: false, data: { id: fileId, file } };
        expect(read(body)).toEqual({ fileId, status: 'error', raw: body });
      }),
    );
  });

  it('is rejected or read, and never throws anything else, whatever it is', () => {
    const data = fc.record({ id: fc.jsonValue(), file: fc.jsonValue() }, { requiredKeys: [] });
    const near = fc.record({ success: fc.jsonValue(), data: fc.oneof(data, fc.jsonValue()) });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.anything(), near), (body) => {
        const result = read(body);
        if (result !== 'BODY_INVALID') {
          expect(result).toMatchObject({ fileId: expect.stringMatching(/./s) as unknown });
        }
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['no object', '[]'],
    ['no data', { success: true }],
    ['no id', { success: true, data: { file: 'https://cdn.example/1.mp3' } }],
    ['an empty id', { success: false, data: { id: '' } }],
    ['an object as id', { success: false, data: { id: {} } }],
    ['no success', { data: { id: 'file_1', file: 'https://cdn.example/1.mp3' } }],
    ['a text as success', { success: 'true', data: { id: 'file_1' } }],
    ['a success without a file', { success: true, data: { id: 'file_1' } }],
    ['a file on disk', { success: true, data: { id: 'file_1', file: 'file:///etc/passwd' } }],
    ['a path', { success: true, data: { id: 'file_1', file: '/1.mp3' } }],
  ])('is rejected with %s', (_name, body) => {
    expect(read(body)).toBe('BODY_INVALID');
  });

  it('is rejected with a message that names the problem', () => {
    expect(() => parseCallback({ success: true, data: { id: 'file_1' } })).toThrow(
      "The callback's body cannot be read: `data.file` must be an http(s) URL.",
    );
  });

  it('is accepted with a number as id', () => {
    expect(read({ success: false, data: { id: 42 } })).toMatchObject({ fileId: '42' });
  });

  it.each([
    ['with the names of a stream', { getReader: 1, iterator: 2 }],
    ['that is a list', [successBody()]],
    ['that is a number', 7],
    ['that is true', true],
    ['that is a function', () => successBody()],
    ['that is a Map', new Map([['success', true]])],
  ])('is BODY_INVALID if it is a parsed value %s', async (_name, body) => {
    const verification = verifyWebhook({ url: await signAddress(), body }, { secret });
    await expect(verification).rejects.toMatchObject({ code: 'BODY_INVALID' });
  });

  it('may be bytes of any kind, also of another realm', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(successBody()));
    const foreign = runInNewContext('Uint8Array.from(bytes)', { bytes }) as unknown;
    for (const body of [bytes.buffer, new DataView(bytes.buffer), foreign]) {
      const verification = verifyWebhook({ url: await signAddress(), body }, { secret });
      await expect(verification).resolves.toMatchObject({ fileId: 'file_1' });
    }
  });

  it('is rejected if it does not arrive within four seconds', async () => {
    const url = await signAddress();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const cancel = vi.fn();
      const body = new ReadableStream({
        cancel,
        start: (controller) => controller.enqueue(Uint8Array.of(0x7b)),
      });
      const verification = verifyWebhook({ url, body }, { secret }).catch((e: unknown) => e);
      while (vi.getTimerCount() === 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await vi.advanceTimersByTimeAsync(4_000);
      expect(await verification).toMatchObject({
        code: 'BODY_INVALID',
        message: "The callback's body cannot be read: it did not arrive within 4000 ms.",
      });
      expect(cancel).toHaveBeenCalledOnce();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is rejected if it is not UTF-8', async () => {
    const body = Uint8Array.of(0x22, 0xff, 0x22);
    await expect(
      verifyWebhook({ url: await signAddress(), body }, { secret }),
    ).rejects.toMatchObject({
      code: 'BODY_INVALID',
    });
  });

  it('may have a character that is split between two chunks', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(successBody('🎧')));
    const chunks = (async function* () {
      for (const byte of bytes) {
        yield await Promise.resolve(Uint8Array.of(byte));
      }
    })();
    const verification = verifyWebhook({ url: await signAddress(), body: chunks }, { secret });
    await expect(verification).resolves.toMatchObject({ fileId: '🎧' });
  });

  it('may have 64 KB, and not a byte more', async () => {
    const bodyOfSize = (size: number) => JSON.stringify(successBody()).padEnd(size);
    await expect(
      verifyWebhook(callbackRequest(await signAddress(), bodyOfSize(65_536)), { secret }),
    ).resolves.toBeDefined();
    await expect(
      verifyWebhook(callbackRequest(await signAddress(), bodyOfSize(65_537)), { secret }),
    ).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
  });

  it('is not read to its end if it is endless', async () => {
    let chunks = 0;
    const cancel = vi.fn();
    const body = new ReadableStream({
      cancel,
      pull(controller) {
        chunks += 1;
        controller.enqueue(new Uint8Array(1024));
      },
    });
    await expect(
      verifyWebhook({ url: await signAddress(), body }, { secret }),
    ).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
    expect(chunks).toBeLessThan(70);
    expect(cancel).toHaveBeenCalledOnce();
  });
});
