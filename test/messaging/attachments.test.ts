import { Readable } from 'node:stream';
import type { Attachment } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const content = { from: 'a@b.co', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const bytes = new Uint8Array([0, 104, 105, 255]);
const base64 = 'AGhp/w==';

async function sent(...attachments: Attachment[]): Promise<unknown> {
  const { fetch, requests } = answering(() => ({}));
  await messagingOver(fetch).send({ ...content, attachments });
  const body = (await requests[0]?.json()) as { attachments: unknown }; // what was sent
  return body.attachments;
}

describe('attachments', () => {
  it.each<[string, Attachment['content']]>([
    ['bytes', bytes],
    ['a Buffer', Buffer.from(bytes)],
    ['a part of a buffer', new Uint8Array([1, ...bytes, 1]).subarray(1, 5)],
    ['an ArrayBuffer', bytes.buffer],
    ['a Blob', new Blob([bytes])],
  ])('sends %s as base64', async (_, data) => {
    const attachment = { filename: 'a.bin', content: data, contentType: 'image/png' };
    await expect(sent(attachment)).resolves.toEqual([{ ...attachment, content: base64 }]);
  });

  it('sends the content at the time of the call', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch);
    const file = new Uint8Array(bytes);
    const to = ['ann@example.com'];
    const email = {
      ...content,
      to,
      attachments: [{ content: file }, { content: new Blob([bytes]) }],
    };
    const call = messaging.send(email);
    to[0] = 'bea@example.com';
    email.subject = 'Bye';
    file.fill(7);
    await call;
    await expect(requests[0]?.json()).resolves.toMatchObject({
      to: ['ann@example.com'],
      subject: 'Hi',
      attachments: [{ content: base64 }, { content: base64 }],
    });
  });

  it('names a File after itself', async () => {
    const file = new File([bytes], 'photo.png');
    await expect(sent({ content: file })).resolves.toEqual([
      { filename: 'photo.png', content: base64 },
    ]);
  });

  it('sends strings and fields that the document does not show unchanged, and files as base64', async () => {
    const attachment = { filename: 'a.txt', content: 'aGk=', disposition: 'inline', size: 2 };
    await expect(sent(attachment, { payload: bytes, content: undefined })).resolves.toEqual([
      attachment,
      { payload: base64 },
    ]);
  });

  it('encodes large files', async () => {
    const large = new Uint8Array(1_000_003).fill(7);
    const [attachment] = (await sent({ content: large })) as [{ content: string }]; // what was sent
    expect(Buffer.from(attachment.content, 'base64').equals(large)).toBe(true);
  });
});

describe('an attachment without content', () => {
  const offline = messagingOver(() => {
    throw new Error('must not reach the network');
  });
  const send = (attachment: object) =>
    offline.send({ ...content, attachments: [attachment] } as never); // wrong on purpose
  const each = async (attachment: object) => {
    const rows = [{ email: 'ann@example.com', attachments: [attachment] }];
    const { failed } = await offline.sendEach(rows as never, content); // wrong on purpose
    throw failed[0]?.error;
  };

  it.each([
    ['contents', { filename: 'a.txt', contents: 'aGk=' }],
    ['contnet', { filename: 'a.txt', contnet: 'aGk=' }],
    ['data', { filename: 'a.txt', data: bytes }],
    ['file', { file: 'aGk=' }],
  ])('is rejected, and the error asks whether `%s` means `content`', async (slip, attachment) => {
    for (const call of [send, each]) {
      await expect(call(attachment)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        fieldErrors: [
          {
            field: 'attachments[0].content',
            message: `is required; \`${slip}\` is not a field. Did you mean \`content\`?`,
          },
        ],
      });
    }
  });

  it.each([
    {},
    { filename: 'a.txt' },
    { filename: 'a.txt', content: undefined },
    { filename: 'a.png', cid: 'logo', contentDisposition: 'inline', contentType: 'image/png' },
  ])('is rejected: %j', async (attachment) => {
    await expect(send(attachment)).rejects.toMatchObject({
      fieldErrors: [
        {
          field: 'attachments[0].content',
          message: 'is required: bytes, a Blob or base64',
        },
      ],
    });
  });

  it.each([{ path: './a.pdf' }, { filename: 'a.pdf', href: '/tmp/a.pdf' }])(
    'is rejected with the path of a file: %j',
    async (attachment) => {
      await expect(send(attachment)).rejects.toThrow(
        '`attachments[0]` must have the `content` of the file, not its location',
      );
    },
  );

  it('is sent with a warning if an unknown field may replace it', async () => {
    const { fetch, requests } = answering(() => ({}));
    const messaging = messagingOver(fetch);
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    const link = { filename: 'a.pdf', url: 'https://example.com/a.pdf', content: undefined };
    const image = {
      content: 'aGk=',
      cid: 'logo',
      contentDisposition: 'inline',
      mimeType: 'image/png',
    };
    await messaging.send({ ...content, attachments: [link, image] });
    expect(warnings).toEqual([
      '`attachments[0].url` is not a documented field and may have no effect.',
      '`attachments[1].cid` is not a documented field and may have no effect.',
      '`attachments[1].contentDisposition` is not a documented field and may have no effect.',
      '`attachments[1].mimeType` is not a documented field and may have no effect. Did you mean `contentType`?',
    ]);
    expect(await requests[0]?.json()).toMatchObject({ attachments: [{ url: link.url }, image] });
  });

  const stream = 'got a stream: read it first, with `await attachment(path)`';
  const otherBase64 =
    "got base64url, or base64 without padding. Pass the bytes: `Buffer.from(content, 'base64')`";
  const long = Buffer.from(new Uint8Array(61).fill(255));
  it.each<[string, unknown, string]>([
    ['a stream of Node', Readable.from(['a']), stream],
    ['a stream of the web', new Blob(['a']).stream(), stream],
    ['a promise', Promise.resolve(bytes), 'got a promise: `await` it first'],
    ['base64url', long.toString('base64url'), otherBase64],
    ['a JPEG in base64url', '_9j_4AAQSkZJ', otherBase64],
    ['base64 without its padding', long.toString('base64').replace(/=+$/, ''), otherBase64],
  ])('is rejected, and the error names the remedy: %s', async (_, value, words) => {
    for (const call of [send, each]) {
      await expect(call({ filename: 'a.bin', content: value })).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        fieldErrors: [
          {
            field: 'attachments[0].content',
            message: expect.stringContaining(words) as string,
          },
        ],
      });
    }
  });
});

it('a stream in any other field of a body is rejected by that name', async () => {
  const messaging = messagingOver(() => {
    throw new Error('must not reach the network');
  });
  const data = { log: Readable.from(['a']) };
  await expect(messaging.send({ ...content, data })).rejects.toThrow(
    '`data.log` cannot be sent as JSON; got a stream: read it to its end first',
  );
});
