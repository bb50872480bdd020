import {
  flag,
  listOf,
  numberFrom,
  oneOf,
  text,
  textUpTo,
  webAddress,
  type Rules,
} from './rules.js';

/** media, POST /v1/generate/video, top-level fields. */
export const requestRules: Rules = {
  payload: { check: listOf(() => undefined), isRequired: true },
  file: { check: text },
  folderId: { check: text },
};

/** media, POST /v1/generate/video, values of `artStyle`. */
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

/** media, POST /v1/generate/video, values of `aiVideoModel`. */
const aiVideoModels = [
  'ai-video-a-pro-fast',
  'ai-video-b',
  'ai-video-c-v5-fast',
  'ai-video-d-2-fast',
  'ai-video-e-2.5-turbo',
];

/** media, POST /v1/generate/video, values of `imageAnimationPreset`. */
const animationPresets = ['None', 'Mix:Subtle Flow', 'Mix', 'Mix:Dramatic'];

/** media, POST /v1/generate/video, job object, row by row. */
export const jobRules: Rules = {
  workflowType: { check: oneOf('script', 'idea', 'url'), isRequired: true },
  workflowFormat: { check: oneOf('video'), isRequired: true },
  content: { check: textUpTo(10_000) },
  prompt: { check: textUpTo(10_000) },
  voiceId: { check: text, isRequired: true },
  aspectRatio: { check: oneOf('16:9', '9:16', '1:1'), default: '16:9' },
  resolution: { check: oneOf('1080p', '720p', '480p', '360p'), default: '1080p' },
  extension: { check: oneOf('mp4', 'mov'), default: 'mp4' },
  duration: { check: numberFrom(1, 15) },
  visuals: { check: oneOf('stock', 'ai', 'library'), default: 'stock' },
  mediaUrls: { check: listOf(webAddress, 100) },
  artStyle: { check: oneOf(...artStyles), default: 'cinematic' },
  aiVideoModel: { check: oneOf(...aiVideoModels) },
  aiVideoClipPercentage: { check: numberFrom(0, 100), default: 20 },
  imageAnimationPreset: { check: oneOf(...animationPresets) },
  bgMusicVolume: { check: numberFrom(0, 100), default: 20 },
  generateSfx: { check: flag, default: true },
  addPauses: { check: flag, default: false },
  subtitlePresetId: { check: text },
  highlightSubtitles: { check: flag, default: false },
  templateId: { check: text },
  brandId: { check: text },
  sceneBreakdown: { check: oneOf('auto', 'lineBreak', 'sentence'), default: 'auto' },
  fileName: { check: text, default: 'Untitled file' },
  shouldExport: { check: flag, default: false },
};
