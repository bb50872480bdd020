import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { audio, speech } from '../../support/testing/media-calls.js';

const text = (length: number) => 'x'.repeat(length);

const rows: Record<string, { takes: unknown[]; refuses: unknown[]; default?: unknown }> = {
  content: { takes: ['a', text(10_000)], refuses: [text(10_001), '', 1, null, undefined] },
  voiceId: { takes: ['voice_9'], refuses: ['', 1, null, undefined] },
  voiceStyleId: { takes: ['style_1', null], refuses: [1] },
  playbackRate: { takes: [0.5, 1.3, 2], refuses: [0.49, 2.01, '1', null], default: 1 },
  format: { takes: ['mp3', 'wav'], refuses: ['mp4', 'ogg', null], default: 'mp3' },
  pronunciations: {
    takes: [[], [{ original: 'SQL', replace: 'sequel' }]],
    refuses: [{}, ['SQL'], [{ original: 'SQL' }], [{ original: 'SQL', replace: 1 }], null],
  },
  webhook: {
    takes: ['https://shop.example/done'],
    refuses: ['shop.example', 'ftp://shop.example', 1, null],
  },
};

const make = () => createFakeMedia({ rateLimit: false, pendingLimit: Infinity });

describe('media, POST /v1/generate/audio', () => {
  it.each(Object.entries(rows))('%s', async (name, { takes, refuses, ...row }) => {
    const fake = make();
    for (const value of takes) {
      expect((await audio(fake, { ...speech, [name]: value })).status).toBe(200);
      expect(fake.files.at(-1)?.settings[name]).toEqual(value);
    }
    for (const value of refuses) {
      const answer = await audio(fake, { ...speech, [name]: value });
      expect([answer.status, value]).toEqual([400, value]);
    }
    if ('default' in row) {
      await audio(fake, { ...speech, [name]: undefined });
      expect(fake.files.at(-1)?.settings[name]).toEqual(row.default);
    }
  });

  it('answers the file id without envelope and without the audio URL', async () => {
    const fake = make();
    const answer = await audio(fake, speech);
    expect(answer.body).toEqual({ fileId: fake.files[0]?.fileId });
  });

  it.each([[[]], ['text'], [null]])('refuses the body %j', async (body) => {
    expect((await audio(make(), body)).status).toBe(400);
  });

  it('creates no folder', async () => {
    const fake = make();
    await audio(fake, speech);
    expect(fake.folders).toEqual([]);
    expect(fake.files[0]).toMatchObject({ kind: 'audio', folderId: undefined });
  });
});
