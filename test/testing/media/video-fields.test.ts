import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { idea, script, video, videos } from '../../support/testing/media-calls.js';

const text = (length: number) => 'x'.repeat(length);
const urls = (count: number) => Array.from({ length: count }, () => 'https://a.example/b.png');

/** What one row of the table takes and refuses, in a job that is right otherwise. */
interface Row {
  job?: object;
  takes: unknown[];
  refuses: unknown[];
  /** What the fake makes of a job that leaves it out. */
  default?: unknown;
}

const ai = { ...idea, visuals: 'ai' };

const rows: Record<string, Row> = {
  workflowType: {
    job: { ...script, prompt: 'Bees', content: 'https://a.example/b' },
    takes: ['script', 'idea', 'url'],
    refuses: ['audio', '', 1, null, undefined],
  },
  workflowFormat: { takes: ['video'], refuses: ['audio', '', null, undefined] },
  content: { job: script, takes: ['a', text(10_000)], refuses: [text(10_001), '', 1, undefined] },
  prompt: { takes: ['a', text(10_000)], refuses: [text(10_001), '', 1, undefined] },
  voiceId: { takes: ['voice_9'], refuses: ['', 1, null, undefined] },
  aspectRatio: { takes: ['16:9', '9:16', '1:1'], refuses: ['4:3', 1, null], default: '16:9' },
  resolution: {
    takes: ['1080p', '720p', '480p', '360p'],
    refuses: ['4k', 1080, null],
    default: '1080p',
  },
  extension: { takes: ['mp4', 'mov'], refuses: ['mp3', 'wav', 'avi', null], default: 'mp4' },
  duration: { takes: [1, 2.5, 15], refuses: [0.9, 15.1, '5', null] },
  visuals: { takes: ['stock', 'ai'], refuses: ['none', null], default: 'stock' },
  mediaUrls: {
    job: { ...idea, visuals: 'library' },
    takes: [urls(1), urls(100)],
    refuses: [urls(101), [], ['a.png'], 'https://a.example/b.png', undefined],
  },
  artStyle: {
    job: ai,
    takes: [
      ...['cinematic', 'realistic', 'anime', 'illustration', 'comicBook', 'threeDimensionModel'],
      ...['fantasyArt', 'waterColor', 'lineArt', 'modelingCompound', 'whimsical', 'biblical'],
      ...['filmNoir', 'tinyWorld', 'technicalIllustration'],
    ],
    refuses: ['cubist', null],
    default: 'cinematic',
  },
  aiVideoModel: {
    job: ai,
    takes: [
      ...['ai-video-a-pro-fast', 'ai-video-b', 'ai-video-c-v5-fast', 'ai-video-d-2-fast'],
      'ai-video-e-2.5-turbo',
    ],
    refuses: ['ai-video-z', null],
  },
  aiVideoClipPercentage: {
    job: { ...ai, aiVideoModel: 'ai-video-b' },
    takes: [0, 100],
    refuses: [-1, 101, '20', null],
    default: 20,
  },
  imageAnimationPreset: {
    job: ai,
    takes: ['None', 'Mix:Subtle Flow', 'Mix', 'Mix:Dramatic'],
    refuses: ['none', 'Mix:Wild', null],
  },
  bgMusicVolume: { takes: [0, 100], refuses: [-1, 101, '20', null], default: 20 },
  generateSfx: { takes: [true, false], refuses: ['true', 1, null], default: true },
  addPauses: { takes: [true, false], refuses: ['true', null], default: false },
  subtitlePresetId: { takes: ['preset_1'], refuses: [1, null] },
  highlightSubtitles: { takes: [true, false], refuses: ['true', null], default: false },
  templateId: { takes: ['template_1'], refuses: [1, null] },
  brandId: { takes: ['brand_000001'], refuses: ['brand_9', 1, null] },
  sceneBreakdown: {
    takes: ['auto', 'lineBreak', 'sentence'],
    refuses: ['word', null],
    default: 'auto',
  },
  fileName: { takes: ['Bees'], refuses: [1, null], default: 'Untitled file' },
  shouldExport: { takes: [true, false], refuses: ['true', null], default: false },
};

const make = () => createFakeMedia({ rateLimit: false, pendingLimit: Infinity });

describe('media, POST /v1/generate/video, job object', () => {
  it.each(Object.entries(rows))('%s', async (name, { job = idea, takes, refuses, ...row }) => {
    const fake = make();
    for (const value of takes) {
      const answer = await videos(fake, { ...job, [name]: value });
      expect(answer.body, JSON.stringify(value)).toMatchObject({ success: true });
      expect(fake.files.at(-1)?.settings[name]).toEqual(value);
    }
    for (const value of refuses) {
      const answer = await videos(fake, { ...job, [name]: value });
      expect([answer.status, value]).toEqual([400, value]);
    }
    if ('default' in row) {
      await videos(fake, { ...job, [name]: undefined });
      expect(fake.files.at(-1)?.settings[name]).toEqual(row.default);
    }
  });

  it('has 25 rows', () => {
    expect(Object.keys(rows)).toHaveLength(25);
  });

  it('names the field that is wrong', async () => {
    const answer = await videos(make(), idea, { ...idea, voiceId: undefined });
    expect(answer.body).toEqual({ success: false, message: 'payload[1].voiceId is required.' });
  });

  it('ignores fields that it does not know', async () => {
    const fake = make();
    expect((await videos(fake, { ...idea, mood: 'happy' })).status).toBe(200);
    expect(fake.files[0]?.settings).not.toHaveProperty('mood');
  });
});

describe('media, POST /v1/generate/video, top-level fields', () => {
  it('payload is required', async () => {
    expect((await video(make(), {})).status).toBe(400);
  });

  it.each([[[]], [idea], ['idea'], [['idea']], [null]])('payload refuses %j', async (payload) => {
    expect((await video(make(), { payload })).status).toBe(400);
  });

  it('payload: one file is created per object, in submitted order', async () => {
    const fake = make();
    const names = ['one', 'two', 'three'];
    const answer = await videos(fake, ...names.map((fileName) => ({ ...idea, fileName })));
    const ids = fake.files.map((file) => file.fileId);
    expect(answer.body).toEqual({
      success: true,
      data: { folderId: fake.folders[0]?.folderId, filesCreated: ids },
    });
    expect(fake.files.map((file) => file.name)).toEqual(names);
  });

  it('payload: one wrong job refuses the whole request', async () => {
    const fake = make();
    expect((await videos(fake, idea, { ...idea, prompt: undefined })).status).toBe(400);
    expect([fake.files, fake.folders]).toEqual([[], []]);
  });

  it('file names the folder that is created', async () => {
    const fake = make();
    await video(fake, { file: 'Launch', payload: [idea] });
    expect(fake.folders).toEqual([{ folderId: 'folder_000001', name: 'Launch' }]);
    expect(fake.files[0]?.folderId).toBe('folder_000001');
  });

  it('file may be left out', async () => {
    const fake = make();
    await videos(fake, idea);
    expect(fake.folders).toEqual([{ folderId: 'folder_000001', name: 'Untitled folder' }]);
  });

  it('folderId places the files into an existing folder', async () => {
    const fake = make();
    fake.folders.push({ folderId: 'mine', name: 'Mine' });
    const answer = await video(fake, { folderId: 'mine', file: 'unused', payload: [idea] });
    expect(answer.body).toMatchObject({ data: { folderId: 'mine' } });
    expect(fake.folders).toHaveLength(1);
  });

  it('folderId of no folder is refused', async () => {
    const fake = make();
    expect((await video(fake, { folderId: 'nope', payload: [idea] })).status).toBe(404);
    expect(fake.files).toEqual([]);
  });

  it.each([{ file: 1 }, { folderId: 1 }])('refuses %j', async (fields) => {
    expect((await video(make(), { ...fields, payload: [idea] })).status).toBe(400);
  });
});
