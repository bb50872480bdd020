import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { badFields, call, ok } from '../../support/testing/messaging-call.js';

function upload(type: string, field = 'image'): { form: FormData } {
  const form = new FormData();
  form.set(field, new File([new Uint8Array([1, 2, 3])], 'logo 1.png', { type }));
  return { form };
}

describe('messaging, POST /uploads/image', () => {
  it('returns a public URL and keeps the image', async () => {
    const fake = createFakeMessaging();
    const { url } = await ok(fake, 'POST /uploads/image', upload('image/png'));
    expect(url).toMatch(/^https:\/\/.+\/logo%201\.png$/);
    expect([...fake.project.uploads.values()]).toMatchObject([
      { url, filename: 'logo 1.png', contentType: 'image/png', bytes: new Uint8Array([1, 2, 3]) },
    ]);
  });

  it('takes the image under any field name', async () => {
    const { status } = await call(
      createFakeMessaging(),
      'POST /uploads/image',
      upload('image/gif', 'file'),
    );
    expect(status).toBe(200);
  });

  it('refuses what is no image', async () => {
    const answer = await call(createFakeMessaging(), 'POST /uploads/image', upload('text/plain'));
    expect(badFields(answer)).toEqual(['image']);
  });

  it('refuses a body that is not multipart with 400', async () => {
    const answer = await call(createFakeMessaging(), 'POST /uploads/image', { body: {} });
    expect(answer.status).toBe(400);
  });
});
