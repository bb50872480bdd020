import type { AudioRequest, GenerationJob, VideoRequest } from 'postreel/media';
import { media as schemas } from 'postreel/schemas';
import { limits } from '../media/limits.js';
import { formatCount } from '../cli/table.js';
import { endStep } from './outcomes.js';
import { formatInline, messageOf } from './text.js';
import { describeBody } from './facts.js';
import { assertAtMost, planTool, type Tool } from './tool.js';

/** The tools that plan steps which cost money. */
export const mediaPlans: readonly Tool[] = [
  planTool<VideoRequest>({
    name: 'plan_videos',
    about:
      'Plans up to 20 videos in one call. Each is paid for. `duration` is in minutes, 1 to 15.',
    schema: schemas.generate.video.body,
    describe: ({ payload, ...folder }) => {
      assertAtMost(payload.length, limits.pendingJobs, 'videos');
      const minutes = payload.map(({ duration }) => duration);
      const known = minutes
        .filter((each) => each !== undefined)
        .reduce((sum, each) => sum + each, 0);
      const open = minutes.filter((each) => each === undefined).length;
      return Promise.resolve({
        action: `Make ${formatCount(payload.length, 'video')}`,
        facts: [
          ...payload.map((job, index) => ({
            label: `video ${index + 1}`,
            text: formatInline(job),
          })),
          { label: 'folder', text: formatInline(folder) },
          {
            label: 'cost',
            text: `${formatCount(payload.length, 'video')}: ${formatCount(known, 'minute')}${open > 0 ? `, and ${open} of a length that the service chooses` : ''}; ${callCost(payload.length)}`,
          },
          { label: 'cannot be undone', text: 'a video that was ordered is paid for' },
        ],
      });
    },
    run: async ({ payload, ...folder }, { media }, { once }) => {
      // Give each video its own idempotency key, so that none is made twice; videos that may share a request
      // share one.
      const make = (index: number, place: Omit<VideoRequest, 'payload'>) =>
        media.generate.video(
          { payload: payload.slice(index, index + 1), ...place },
          { once: `${once}/${index}` },
        );
      const ends: PromiseSettledResult<GenerationJob[]>[] = [];
      let place = folder;
      // A call without `folderId` creates a new folder: the first accepted video supplies the folder of the
      // others.
      while (place.folderId === undefined && ends.length < payload.length) {
        const [end] = await Promise.allSettled([make(ends.length, place)]);
        ends.push(end);
        const made = end.status === 'fulfilled' ? end.value[0]?.folderId : undefined;
        place = made === undefined ? place : { folderId: made };
      }
      const others = payload.slice(ends.length).map((_, at) => make(ends.length + at, place));
      ends.push(...(await Promise.allSettled(others)));
      const jobs = ends.map((end) => (end.status === 'fulfilled' ? end.value : []));
      const failed = ends.flatMap((end, index) =>
        end.status === 'rejected' ? [{ video: index + 1, error: end.reason as unknown }] : [],
      );
      const result = {
        fileIds: jobs.flat().map(({ fileId }) => fileId),
        ...(failed.length > 0 && {
          failed: failed.map(({ video, error }) => ({ video, error: messageOf(error) })),
        }),
      };
      const errors = failed.map(({ error }) => error);
      return endStep(result, payload.length - failed.length, errors);
    },
  }),
  planTool<AudioRequest>({
    name: 'plan_audio',
    about: 'Plans to turn a text of up to 10 000 characters into speech, which is paid for.',
    schema: schemas.generate.audio.body,
    fields: { webhook: null, content: 'The text.' },
    describe: ({ content, ...others }) =>
      Promise.resolve({
        action: 'Make 1 spoken text',
        facts: [
          describeBody('text', content),
          { label: 'settings', text: formatInline(others) },
          { label: 'cost', text: `1 audio; ${callCost(1)}` },
          { label: 'cannot be undone', text: 'an audio that was ordered is paid for' },
        ],
      }),
    run: async (request, { media }, { once }) => {
      const { fileId } = await media.generate.audio(request, { once });
      return { fileIds: [fileId] };
    },
  }),
];

/** The maximum number of calls of a step, and how long the rate limit then delays them. */
function callCost(calls: number): string {
  const { limit, windowMs } = limits.requests;
  const windowMinutes = windowMs / 60_000;
  const minutes = Math.floor((calls - 1) / limit) * windowMinutes;
  const most = calls === 1 ? '1' : `up to ${calls}`;
  return `${most} of the ${limit} calls in ${windowMinutes} minutes${minutes > 0 ? `, so about ${minutes} minutes` : ''}`;
}
