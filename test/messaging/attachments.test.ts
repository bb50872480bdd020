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

  it('sends what was there when the call was made', async () => {
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

  it('sends strings and fields that the document does not show as they are', async () => {
    const attachment = { filename: 'a.txt', content: 'aGk=', disposition: 'inline', size: 2 };
    await expect(sent(attachment, { data: bytes })).resolves.toEqual([
      attachment,
      { data: base64 },
    ]);
  });

  it('encodes large files', async () => {
    const large = new Uint8Array(1_000_003).fill(7);
    const [attachment] = (await sent({ content: large })) as [{ content: string }]; // what was sent
    expect(Buffer.from(attachment.content, 'base64').equals(large)).toBe(true);
  });
});
