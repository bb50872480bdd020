import { isRecord } from '../../core/values.js';
import { Refusal } from '../core/http.js';

/** What is wrong with a value, as the rest of a sentence; `undefined` when nothing is. */
type Check = (value: unknown) => string | undefined;

/** One row of a table of fields. */
interface Rule {
  readonly check: Check;
  readonly isRequired?: boolean;
  readonly default?: unknown;
}

/** A table of fields, by their names on the wire. */
export type Rules = Readonly<Record<string, Rule>>;

/** The fields of a body. */
export type JobFields = Readonly<Record<string, unknown>>;

/** Reads the fields of a table out of a body, with the defaults filled in. Other fields are ignored. */
export function readFields(rules: Rules, body: unknown, place = ''): JobFields {
  const given = asObject(body, place);
  const fields: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = given[name];
    if (value === undefined && rule.isRequired) {
      refuse(`${place}${name} is required.`);
    }
    const complaint = value === undefined ? undefined : rule.check(value);
    if (complaint !== undefined) {
      refuse(`${place}${name} ${complaint}.`);
    }
    const kept = value === undefined ? rule.default : value;
    if (kept !== undefined) {
      fields[name] = kept;
    }
  }
  return fields;
}

/** The document shows no status for rejections: 400. */
export function refuse(message: string): never {
  throw new Refusal(400, 'BAD_REQUEST', message);
}

function asObject(body: unknown, place: string): JobFields {
  if (!isRecord(body)) {
    refuse(`${place === '' ? 'The body' : place.slice(0, -1)} must be an object.`);
  }
  return { ...body };
}

export const text: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'must be a text that is not empty';

export const textOrNull: Check = (value) => (value === null ? undefined : text(value));

export const textUpTo =
  (limit: number): Check =>
  (value) =>
    typeof value === 'string' && Array.from(value).length > limit
      ? `must have at most ${limit} characters`
      : text(value);

export const flag: Check = (value) =>
  typeof value === 'boolean' ? undefined : 'must be true or false';

export const numberFrom =
  (low: number, high: number): Check =>
  (value) =>
    typeof value === 'number' && value >= low && value <= high
      ? undefined
      : `must be a number from ${low} to ${high}`;

export const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((allowed) => allowed === value) ? undefined : `must be ${values.join(' or ')}`;

export const webAddress: Check = (value) =>
  typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)
    ? undefined
    : 'must be a public URL';

export const listOf =
  (item: Check, limit = Infinity): Check =>
  (value) => {
    if (!Array.isArray(value)) {
      return 'must be an array';
    }
    if (value.length > limit) {
      return `must have at most ${limit} items`;
    }
    const complaint = value.map(item).find((found) => found !== undefined);
    return complaint && `has an item that ${complaint}`;
  };

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
