import type { MediaJob } from 'postreel';
import { describe, expect, it } from 'vitest';
import { fakeService, inTime, speech, useFakeTime, video } from '../../support/media/fake-time.js';

useFakeTime();

const plan = (jobs: readonly MediaJob[]) => inTime(fakeService().media().plan(jobs));

describe('a plan', () => {
  it('makes no call', async () => {
    const { fake, media } = fakeService();
    await inTime(media().plan([video(), speech(), video({ duration: 99 })]));
    expect(fake.requests).toEqual([]);
  });

  it.each([
    ['nothing', 0, 0, 0],
    ['one video', 1, 0, 1],
    ['twenty videos', 20, 0, 1],
    ['twenty-one', 21, 0, 2],
    ['texts to speak', 0, 7, 7],
    ['both', 45, 3, 6],
  ])('counts the requests for %s', async (_, videos, texts, requests) => {
    const jobs = [
      ...Array.from({ length: videos }, () => video()),
      ...Array.from({ length: texts }, () => speech()),
    ];
    expect((await plan(jobs)).requests).toBe(requests);
  });

  it('counts videos of each brand by themselves', async () => {
    const jobs = [video(), video({ brandId: 'a' }), video({ brandId: 'a' }), video()];
    expect((await plan(jobs)).requests).toBe(2);
  });

  it('knows the limits of the client', async () => {
    const { media } = fakeService();
    const small = media({ rateLimit: { pending: 5, limit: 2, windowMs: 600_000 } });
    const jobs = Array.from({ length: 25 }, () => video({ duration: 1 }));
    const { requests, earliestFinish } = await inTime(small.plan(jobs));
    expect(requests).toBe(5);
    // Two calls a window: the fifth leaves in the third window.
    expect(earliestFinish.getTime() - Date.now()).toBeGreaterThanOrEqual(1_200_000);
  });

  it('bears 150 000 jobs', async () => {
    const jobs = Array.from({ length: 150_000 }, () => video({ duration: 2 }));
    const { requests, minutes, problems, earliestFinish } = await plan(jobs);
    expect({ requests, minutes, problems }).toEqual({
      requests: 7_500,
      minutes: 300_000,
      problems: [],
    });
    // Ten calls in ten minutes: the last one leaves after 7 490 minutes.
    expect(earliestFinish.getTime() - Date.now()).toBeGreaterThan(7_490 * 60_000);
  });

  it('says how many minutes the jobs come to, and what a cap would leave out', async () => {
    const jobs = [video({ duration: 3 }), video({ duration: 2 }), video({ duration: 4 })];
    const { media } = fakeService();
    const within = await inTime(media().plan(jobs, { maxJobs: 3, maxMinutes: 9 }));
    expect(within).toMatchObject({ minutes: 9, problems: [] });
    const beyond = await inTime(media().plan(jobs, { maxJobs: 2, maxMinutes: 8 }));
    expect(beyond.problems).toEqual([
      { field: 'maxJobs', message: 'allows 2 jobs, but there are 3' },
      { field: 'maxMinutes', message: 'allows 8 minutes, but the jobs come to about 9' },
    ]);
    await expect(inTime(media().plan(jobs, { maxJobs: Number.NaN }))).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
  });

  it('is earlier for less', async () => {
    const time = async (jobs: MediaJob[]) =>
      (await plan(jobs)).earliestFinish.getTime() - Date.now();
    const one = await time([video({ duration: 2 })]);
    const long = await time([video({ duration: 10 })]);
    const many = await time(Array.from({ length: 100 }, () => video({ duration: 10 })));
    expect(one).toBeGreaterThan(0);
    expect(long).toBeGreaterThan(one);
    expect(many).toBeGreaterThan(long);
  });

  it.each([
    [{ subtitlePresetId: 's', templateId: 't' }, 'subtitlePresetId'],
    [{ imageAnimationPreset: 'Mix' }, 'imageAnimationPreset'],
    [{ imageAnimationPreset: 'Mix', visuals: 'stock' }, 'imageAnimationPreset'],
    [{ artStyle: 'anime' }, 'artStyle'],
    [{ artStyle: 'anime', visuals: 'library', mediaUrls: ['https://a.test/b.png'] }, 'artStyle'],
    [{ aiVideoClipPercentage: 50, visuals: 'ai' }, 'aiVideoClipPercentage'],
    [{ aiVideoClipPercentage: 50 }, 'aiVideoClipPercentage'],
  ] as [object, string][])('warns of what has no effect: %j', async (more, field) => {
    const { warnings, problems } = await plan([video(), video(more)]);
    expect(problems).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(`jobs[1].${field}`);
  });

  it.each([
    { subtitlePresetId: 's' },
    { templateId: 't' },
    { imageAnimationPreset: 'Mix', visuals: 'ai' },
    { artStyle: 'anime', visuals: 'ai' },
    { aiVideoClipPercentage: 50, visuals: 'ai', aiVideoModel: 'ai-video-b' },
  ] as object[])('has nothing to say about %j', async (more) => {
    expect(await plan([video(more)])).toMatchObject({ warnings: [], problems: [] });
  });

  it.each([
    [video({ prompt: undefined as never }), 'prompt'],
    [video({ prompt: 'x'.repeat(10_001) }), 'prompt'],
    [video({ workflowType: 'script' } as object), 'content'],
    [video({ workflowType: 'url', content: 'no address' } as object), 'content'],
    [video({ duration: 0.5 }), 'duration'],
    [video({ duration: 16 }), 'duration'],
    [video({ voiceId: '' }), 'voiceId'],
    [video({ visuals: 'library' } as object), 'mediaUrls'],
    [video({ mediaUrls: Array<string>(101).fill('https://a.test/b.png') }), 'mediaUrls'],
    [video({ aiVideoModel: 'ai-video-b' }), 'aiVideoModel'],
    [video({ bgMusicVolume: 101 }), 'bgMusicVolume'],
    [video({ extension: 'mp3' } as object), 'extension'],
    [speech({ content: 'x'.repeat(10_001) }), 'content'],
    [speech({ playbackRate: 2.1 }), 'playbackRate'],
    [speech({ format: 'ogg' as never }), 'format'],
  ] as [MediaJob, string][])('names the broken rule of job %#: %s', async (job, field) => {
    const { problems } = await plan([video(), job]);
    expect(problems.map((problem) => problem.field)).toEqual([`jobs[1].${field}`]);
    expect(problems[0]!.message).not.toBe('');
  });

  it.each([null, undefined, 'a video', 42, {}])('bears %j for a job', async (job) => {
    const { problems, earliestFinish, requests } = await plan([job as MediaJob]);
    expect(problems.length).toBeGreaterThan(0);
    expect(Number.isNaN(earliestFinish.getTime())).toBe(false);
    expect(requests).toBe(1);
  });
});
