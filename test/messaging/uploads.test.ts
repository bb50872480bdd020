import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const png = new Uint8Array([137, 80, 78, 71]);
const wholePng = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0]);

describe('uploads.image', () => {
  it.each([
    ['bytes', png, 'image', 'application/octet-stream'],
    ['a buffer', png.buffer, 'image', 'application/octet-stream'],
    ['a blob', new Blob([png], { type: 'image/png' }), 'image', 'image/png'],
    ['a file', new File([png], 'logo.png', { type: 'image/png' }), 'logo.png', 'image/png'],
    [
      'named bytes',
      { data: png, filename: 'logo.png', contentType: 'image/png' },
      'logo.png',
      'image/png',
    ],
  ])('sends %s as a form', async (_, image, name, type) => {
    const { fetch, requests } = answering(() => ({ url: 'https://cdn.example.com/logo.png' }));
    const { url } = await messagingOver(fetch).uploads.image(image);
    expect(url).toBe('https://cdn.example.com/logo.png');
    const sent = (await requests[0]?.formData())?.get('image') as File; // a form's file
    expect(sent).toMatchObject({ name, type });
    await expect(sent.bytes()).resolves.toEqual(png);
  });

  it.each([undefined, null, 7, 'logo.png'])(
    'rejects %j, and does not throw synchronously',
    async (image) => {
      const { fetch, requests } = answering();
      const call = messagingOver(fetch).uploads.image(image as never);
      await expect(call).rejects.toThrow('must be a File, a Blob, bytes');
      expect(requests).toHaveLength(0);
    },
  );

  it.each([
    ['bytes', (bytes: Uint8Array<ArrayBuffer>) => bytes],
    ['a buffer', (bytes: Uint8Array<ArrayBuffer>) => bytes.buffer],
    ['named bytes', (data: Uint8Array<ArrayBuffer>) => ({ data, filename: 'logo.png' })],
  ])('sends %s as they were at the time of the call', async (_, imageOf) => {
    const { fetch, requests } = answering(() => ({ url: 'https://cdn.example.com/logo.png' }));
    const bytes = png.slice();
    const call = messagingOver(fetch).uploads.image(imageOf(bytes));
    bytes.fill(0);
    await call;
    const sent = (await requests[0]?.formData())?.get('image') as File; // a form's file
    await expect(sent.bytes()).resolves.toEqual(png);
  });

  it.each([
    ['its name', { data: png, filename: 'logo.PNG' }, 'image/png'],
    ['its name, of a file without a type', new File([png], 'logo.svg'), 'image/svg+xml'],
    ['its first bytes', wholePng, 'image/png'],
    ['its first bytes, in a buffer', wholePng.buffer, 'image/png'],
    ['its text', { data: '<svg xmlns="http://www.w3.org/2000/svg"/>' } as never, 'image/svg+xml'],
    ['a JPEG\u2019s first bytes', new Uint8Array([255, 216, 255, 224]), 'image/jpeg'],
  ])('finds the type of an image by %s', async (_, image, type) => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).uploads.image(image);
    const sent = (await requests[0]?.formData())?.get('image') as File; // a form's file
    expect(sent.type).toBe(type);
  });

  it('rejects a value that is not a file before a request', async () => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    const call = messaging.uploads.image('logo.png' as unknown as Blob); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [
        {
          field: 'image',
          message:
            'must be a File, a Blob, bytes or { data, filename, contentType }; got a text: for a path use `csvFile()` or `imageFile()` of postreel/node',
        },
      ],
    });
  });

  it.each<[string, unknown, string]>([
    ['a path', './logo.png', 'got a text: for a path use'],
    ['a promise', Promise.resolve(png), 'got a promise: `await` it first'],
    ['a stream', new Blob([png]).stream(), 'got a stream: read it to its end first'],
    ['nothing', undefined, 'got undefined'],
    ['rows', [{ email: 'ann@example.com' }], 'got a list: `contacts.importAll()` takes rows'],
    ['an object', { path: 'logo.png' }, 'got an object'],
  ])('rejects %s as the data of a file before a request', async (kind, data, words) => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    const file = { data, filename: 'a' } as never; // wrong on purpose
    const refused = (field: string) => ({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field, message: expect.stringContaining(words) as string }],
    });
    await expect(messaging.uploads.image(file)).rejects.toMatchObject(refused('image.data'));
    if (kind !== 'a path') {
      await expect(messaging.contacts.import(file)).rejects.toMatchObject(refused('file.data'));
    }
  });

  it('never uploads an image twice', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    await expect(messagingOver(fetch).uploads.image(png)).rejects.toMatchObject({
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });
});
