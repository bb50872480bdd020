import * as z from 'zod/mini';
import type { SchemasFor } from '../../core/call/route.js';
import { limits } from '../limits.js';
import type { routes } from './routes.js';
import type { VideoJob, VideoRequest } from './types.js';
import { videoWarnings } from './warnings.js';

const between = ({ min, max }: { readonly min: number; readonly max: number }) =>
  z.number().check(z.minimum(min), z.maximum(max));
const optionalText = z.optional(z.string());
const optionalFlag = z.optional(z.boolean());
const percentage = z.optional(between(limits.percentage));
const textRules = [
  z.minLength(1),
  z.maxLength(limits.textLength),
  z.refine<string>(
    (value) => value === '' || /\S/.test(value),
    'must contain more than white space',
  ),
] as const;
const text = z.string().check(...textRules);
const spokenText = z.string().check(
  z.refine((value) => lengthOf(value) <= limits.textLength, {
    error: ({ input }) =>
      `must be at most ${limits.textLength} characters; got ${lengthOf(input)}. For a longer text use \`generate.longAudio()\``,
    abort: true,
  }),
  ...textRules,
);
const id = z.string().check(z.minLength(1));
const webUrl = z.string().check(z.refine(isWebUrl, 'must be an absolute http or https URL'));

const artStyles = [
  'cinematic',
  'realistic',
  'anime',
  'illustration',
  'comicBook',
  'threeDimensionModel',
  'fantasyArt',
  'waterColor',
  'lineArt',
  'modelingCompound',
  'whimsical',
  'biblical',
  'filmNoir',
  'tinyWorld',
  'technicalIllustration',
];

/** One video to generate. */
export const videoJob = z
  .looseObject({
    workflowType: z.enum(['script', 'idea', 'url']),
    workflowFormat: z.literal('video'),
    content: z.optional(text),
    prompt: z.optional(text),
    voiceId: id,
    aspectRatio: z.optional(z.enum(['16:9', '9:16', '1:1'])),
    resolution: z.optional(z.enum(['1080p', '720p', '480p', '360p'])),
    extension: z.optional(z.enum(['mp4', 'mov'])), // mp3 and wav are not for videos
    duration: z.optional(between(limits.duration)),
    visuals: z.optional(z.enum(['stock', 'ai', 'library'])),
    mediaUrls: z.optional(z.array(webUrl).check(z.maxLength(limits.mediaUrls))),
    artStyle: z.optional(z.enum(artStyles)),
    aiVideoModel: optionalText,
    aiVideoClipPercentage: percentage,
    imageAnimationPreset: z.optional(z.enum(['None', 'Mix:Subtle Flow', 'Mix', 'Mix:Dramatic'])),
    bgMusicVolume: percentage,
    generateSfx: optionalFlag,
    addPauses: optionalFlag,
    subtitlePresetId: optionalText,
    highlightSubtitles: optionalFlag,
    templateId: optionalText,
    brandId: optionalText,
    sceneBreakdown: z.optional(z.enum(['auto', 'lineBreak', 'sentence'])),
    fileName: optionalText,
    shouldExport: optionalFlag,
  })
  .check((context) => {
    for (const [path, message] of jobProblems(context.value)) {
      context.issues.push({ code: 'custom', path: [path], message, input: context.value });
    }
  });

const videoRequest = z.looseObject({
  payload: z.array(videoJob).check(z.minLength(1)),
  file: optionalText,
  folderId: optionalText,
}) as unknown as z.ZodMiniType<VideoRequest>; // the job's check() enforces its union

/** Text to be spoken. */
export const audioRequest = z.looseObject({
  content: spokenText,
  voiceId: id,
  voiceStyleId: z.optional(z.nullable(z.string())),
  playbackRate: z.optional(between(limits.playbackRate)),
  format: z.optional(z.enum(['mp3', 'wav'])),
  // `original` must not be empty, but `replace` may be.
  pronunciations: z.optional(z.array(z.looseObject({ original: id, replace: z.string() }))),
  webhook: z.optional(webUrl),
});

const statusRecord = z.looseObject({
  fileId: z.string(),
  status: z.string(),
  progress: z.optional(z.number()),
  download: z.optional(z.string()),
});

export const schemas = {
  video: {
    body: videoRequest,
    returns: z.looseObject({ folderId: z.string(), filesCreated: z.array(z.string()) }),
    known: {
      names: ['payload', 'file', 'folderId'],
      items: { of: 'payload', names: Object.keys(videoJob.shape) },
    },
    warnings: videoWarnings,
  },
  audio: {
    body: audioRequest,
    returns: z.looseObject({ fileId: z.string() }),
    known: {
      names: Object.keys(audioRequest.shape),
      aliases: { speed: 'playbackRate', text: 'content', voice: 'voiceId' },
    },
  },
  status: { query: z.looseObject({ fileId: id }), returns: statusRecord },
} satisfies SchemasFor<typeof routes>;

type VideoJobFields = Partial<Record<keyof VideoJob, unknown>>;

function* jobProblems(job: VideoJobFields): Generator<[keyof VideoJob, string]> {
  const { workflowType, visuals = 'stock', content, mediaUrls } = job;
  if (workflowType === 'idea' && job.prompt === undefined) {
    yield ['prompt', 'is required for `workflowType` "idea"'];
  }
  if (workflowType !== 'idea' && content === undefined) {
    yield ['content', `is required for \`workflowType\` "${String(workflowType)}"`];
  }
  if (workflowType === 'url' && typeof content === 'string' && !isWebUrl(content)) {
    yield ['content', 'must be the absolute URL of an article for `workflowType` "url"'];
  }
  if (visuals === 'library' && !(Array.isArray(mediaUrls) && mediaUrls.length > 0)) {
    yield ['mediaUrls', 'is required for `visuals` "library"'];
  }
  if (job.aiVideoModel !== undefined && visuals !== 'ai') {
    yield ['aiVideoModel', 'needs `visuals` "ai"'];
  }
}

function isWebUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

// Counts characters as zod does: by code points.
function lengthOf(value: unknown): number {
  return Array.from(String(value)).length;
}
