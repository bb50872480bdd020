import { describe, expect, it } from 'vitest';
import { createFakeMedia } from 'postreel/testing';
import { idea, script, video, videos } from '../../support/testing/media-calls.js';

const settingsOf = async (job: object) => {
  const fake = createFakeMedia();
  expect((await videos(fake, job)).status).toBe(200);
  return fake.files[0]!.settings;
};

const statusOf = async (job: object) => (await videos(createFakeMedia(), job)).status;

describe('media, job object, rules between fields', () => {
  it('content is required for script and url, not for idea', async () => {
    expect(await statusOf({ ...script, content: undefined, prompt: 'Bees' })).toBe(400);
    expect(await statusOf({ ...script, workflowType: 'url', content: undefined })).toBe(400);
    expect(await statusOf(idea)).toBe(200);
  });

  it('content of url is the URL of an article', async () => {
    const url = { ...script, workflowType: 'url' };
    expect(await statusOf({ ...url, content: 'https://blog.example/bees' })).toBe(200);
    expect(await statusOf({ ...url, content: 'Bees fly.' })).toBe(400);
  });

  it('prompt is required for idea, not for script', async () => {
    expect(await statusOf({ ...idea, prompt: undefined, content: 'Bees' })).toBe(400);
    expect(await statusOf(script)).toBe(200);
  });

  it.each(['stock', 'ai', 'library'])('mediaUrls may be combined with %s', async (visuals) => {
    const mediaUrls = ['https://a.example/b.png'];
    expect(await settingsOf({ ...idea, visuals, mediaUrls })).toMatchObject({ mediaUrls });
  });

  it('artStyle is used when visuals is ai', async () => {
    expect(await settingsOf({ ...idea, artStyle: 'anime' })).not.toHaveProperty('artStyle');
    const ai = await settingsOf({ ...idea, visuals: 'ai', artStyle: 'anime' });
    expect(ai.artStyle).toBe('anime');
  });

  it('aiVideoModel is for paid plans only', async () => {
    const fake = createFakeMedia({ paidPlan: false });
    const answer = await videos(fake, { ...idea, visuals: 'ai', aiVideoModel: 'ai-video-b' });
    expect(answer.status).toBe(400);
  });

  it('aiVideoClipPercentage applies only with aiVideoModel', async () => {
    const settings = await settingsOf({ ...idea, visuals: 'ai', aiVideoClipPercentage: 50 });
    expect(settings).not.toHaveProperty('aiVideoClipPercentage');
  });

  it('imageAnimationPreset has no effect when visuals is stock', async () => {
    const settings = await settingsOf({ ...idea, imageAnimationPreset: 'Mix' });
    expect(settings).not.toHaveProperty('imageAnimationPreset');
  });

  it('subtitlePresetId applies only when templateId is not set', async () => {
    const both = { ...idea, subtitlePresetId: 'preset_1', templateId: 'template_1' };
    expect(await settingsOf(both)).not.toHaveProperty('subtitlePresetId');
    expect(await settingsOf({ ...both, templateId: undefined })).toMatchObject({
      subtitlePresetId: 'preset_1',
    });
  });

  it('fileName is the name in the workspace', async () => {
    const fake = createFakeMedia();
    await videos(fake, { ...idea, fileName: 'Bees' }, idea);
    expect(fake.files.map(({ name }) => name)).toEqual(['Bees', 'Untitled file']);
  });
});

describe('media, Errors', () => {
  it('1: a kit the caller cannot use is rejected with its message', async () => {
    const fake = createFakeMedia();
    const answer = await videos(fake, idea, { ...idea, brandId: 'brand_gone' });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ message: 'Brand kit not found or deleted.' });
    expect(fake.files).toEqual([]);
  });

  it.each([
    ['stock by default', {}],
    ['stock', { visuals: 'stock' }],
    ['library', { visuals: 'library', mediaUrls: ['https://a.example/b.png'] }],
  ])('2: aiVideoModel is rejected while visuals is %s', async (_name, fields) => {
    expect(await statusOf({ ...idea, ...fields, aiVideoModel: 'ai-video-b' })).toBe(400);
  });
});

describe('media, Limits', () => {
  it("duration is subject to the plan's maximum export length", async () => {
    const fake = createFakeMedia({ maxExportMinutes: 5 });
    expect((await videos(fake, { ...idea, duration: 5 })).status).toBe(200);
    expect((await videos(fake, { ...idea, duration: 6 })).status).toBe(400);
  });
});

describe('media, Brand kit behaviour', () => {
  const kit = {
    brandId: 'mine',
    logo: 'https://a.example/logo.png',
    introSeconds: 30,
    outroSeconds: 45,
    colours: ['#123456'],
    fonts: ['Serif'],
    voiceId: 'voice_of_the_kit',
  };

  it.each([
    ['1: the logo', 'logo'],
    ['2: the intro', 'introSeconds'],
    ['2: the outro', 'outroSeconds'],
    ['3: the colours', 'colours'],
    ['4: the fonts', 'fonts'],
  ] as const)('%s is applied', async (_name, part) => {
    const fake = createFakeMedia({ brandKits: [kit] });
    await videos(fake, { ...idea, brandId: 'mine' });
    expect(fake.files[0]?.brand?.[part]).toEqual(kit[part]);
  });

  it('applies to every video of the request', async () => {
    const fake = createFakeMedia({ brandKits: [kit] });
    await videos(fake, idea, { ...idea, brandId: 'mine' });
    expect(fake.files.map(({ brand }) => brand?.brandId)).toEqual(['mine', 'mine']);
  });

  it('parts that the kit lacks are skipped', async () => {
    const fake = createFakeMedia({ brandKits: [{ brandId: 'bare' }] });
    await videos(fake, { ...idea, duration: 1, brandId: 'bare' });
    expect(fake.files[0]).toMatchObject({ brand: { brandId: 'bare' }, lengthSeconds: 60 });
  });

  it("the kit's voice is never applied", async () => {
    const fake = createFakeMedia({ brandKits: [kit] });
    await videos(fake, { ...idea, brandId: 'mine' });
    expect(fake.files[0]?.settings.voiceId).toBe('voice_1');
  });

  it('intro and outro lengthen the video and raise the credit cost', async () => {
    const fake = createFakeMedia({ brandKits: [kit] });
    await video(fake, { payload: [{ ...idea, duration: 2 }] });
    await video(fake, { payload: [{ ...idea, duration: 2, brandId: 'mine' }] });
    expect(fake.files).toMatchObject([
      { lengthSeconds: 120, credits: 2 },
      { lengthSeconds: 195, credits: 4 },
    ]);
  });

  it('a kit that was deleted is refused', async () => {
    const fake = createFakeMedia({ brandKits: [kit] });
    fake.brandKits.length = 0;
    expect((await videos(fake, { ...idea, brandId: 'mine' })).status).toBe(400);
  });
});
