import { isRecord } from '../../core/values.js';
import { Refusal } from '../core/http.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import { accept, checkPending, type MediaWorld } from './jobs.js';
import {
  anything,
  checkFields,
  filled,
  flag,
  listOf,
  numberFrom,
  oneOf,
  optional,
  orNull,
  required,
  webAddress,
  wrong,
  type FieldsOf,
  type Rule,
  type Rules,
} from '../core/checks.js';
import type { BrandKit, MediaFile } from './types.js';

/** media, POST /v1/generate/video, top-level fields. */
const requestRules = {
  payload: required(listOf(anything)),
  file: filled(),
  folderId: filled(),
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
const jobRules = {
  workflowType: required(oneOf('script', 'idea', 'url')),
  workflowFormat: required(oneOf('video')),
  content: filled(10_000),
  prompt: filled(10_000),
  voiceId: required(filled()),
  aspectRatio: optional(oneOf('16:9', '9:16', '1:1'), '16:9'),
  resolution: optional(oneOf('1080p', '720p', '480p', '360p'), '1080p'),
  extension: optional(oneOf('mp4', 'mov'), 'mp4'),
  duration: numberFrom(1, 15),
  visuals: optional(oneOf('stock', 'ai', 'library'), 'stock'),
  mediaUrls: listOf(webAddress, 100),
  artStyle: optional(oneOf(...artStyles), 'cinematic'),
  aiVideoModel: oneOf(...aiVideoModels),
  aiVideoClipPercentage: optional(numberFrom(0, 100), 20),
  imageAnimationPreset: oneOf(...animationPresets),
  bgMusicVolume: optional(numberFrom(0, 100), 20),
  generateSfx: optional(flag, true),
  addPauses: optional(flag, false),
  subtitlePresetId: filled(),
  highlightSubtitles: optional(flag, false),
  templateId: filled(),
  brandId: filled(),
  sceneBreakdown: optional(oneOf('auto', 'lineBreak', 'sentence'), 'auto'),
  fileName: optional(filled(), 'Untitled file'),
  shouldExport: optional(flag, false),
};

type JobFields = FieldsOf<typeof jobRules>;

/** Reads the fields of a table, or refuses the request with the first complaint. */
function readFields<Table extends Rules>(rules: Table, body: unknown, place = ''): FieldsOf<Table> {
  if (!isRecord(body)) {
    refuse(`${place === '' ? 'The body' : place.slice(0, -1)} must be an object.`);
  }
  const { fields, errors } = checkFields(rules, body);
  for (const { field, message } of errors) {
    refuse(`${place}${field} ${message}`);
  }
  return fields;
}

/** The document shows no status for rejections: 400. */
export function refuse(message: string): never {
  throw new Refusal(400, 'BAD_REQUEST', message);
}

/** POST /v1/generate/video: accepts all jobs or none, or one after another up to a rejected one. */
export function generateVideo(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const { payload: given, file, folderId } = readFields(requestRules, request.body);
  if (given.length === 0) {
    refuse('payload must have at least one job.');
  }
  const isLoop = world.settings.batch === 'loop';
  const jobs = isLoop ? [] : given.map((job, index) => readJob(world, job, index));
  checkFolder(world, folderId);
  checkPending(world, jobs.length);
  const folder = folderId ?? createFolder(world, file);
  const files = isLoop
    ? given.map((job, index) => {
        const settings = readJob(world, job, index);
        checkPending(world, 1);
        return acceptVideo(world, settings, { folder, jobs: [settings] });
      })
    : jobs.map((settings) => acceptVideo(world, settings, { folder, jobs }));
  const data = { folderId: folder, filesCreated: files.map(({ fileId }) => fileId) };
  return { body: { success: true, data } };
}

function readJob(world: MediaWorld, job: unknown, index: number): JobFields {
  return readVideoJob(world, job, `payload[${index}].`);
}

function acceptVideo(
  world: MediaWorld,
  settings: JobFields,
  { folder, jobs }: { readonly folder: string; readonly jobs: readonly JobFields[] },
): MediaFile {
  return accept(world, {
    kind: 'video',
    name: settings.fileName,
    folderId: folder,
    settings,
    brand: brandOf(world, settings, jobs),
  });
}

/** An unknown folder is a 404 (not shown). */
function checkFolder({ folders }: MediaWorld, folderId: string | undefined): void {
  if (folderId === undefined || folders.some((folder) => folder.folderId === folderId)) {
    return;
  }
  throw new Refusal(404, 'UNKNOWN_FOLDER', 'Folder not found.');
}

/** media, top-level fields: without `folderId` a new folder named by `file` is created. */
function createFolder(world: MediaWorld, name = 'Untitled folder'): string {
  const folderId = world.id('folder');
  // The default name is not shown: a folder without a name gets the default name of a file.
  world.folders.push({ folderId, name });
  return folderId;
}

/** media, Brand kit behaviour: applies to every video of the request, so also to jobs that name none. */
function brandOf(
  { brandKits }: MediaWorld,
  settings: JobFields,
  jobs: readonly JobFields[],
): BrandKit | undefined {
  const brandId = settings.brandId ?? jobs.find((job) => job.brandId !== undefined)?.brandId;
  return brandKits.find((kit) => kit.brandId === brandId);
}

/** Reads one job object of a video request; throws a `Refusal` if it is invalid. */
function readVideoJob(world: MediaWorld, body: unknown, place: string): JobFields {
  const job = readFields(jobRules, body, place);
  checkSource(job, place);
  checkVisuals(world, job, place);
  checkPlan(world, job, place);
  checkBrand(world, job.brandId);
  return withoutIdleFields(job);
}

/** media, job object: `content` for `script` and `url`, `prompt` for `idea`. */
function checkSource({ workflowType, content, prompt }: JobFields, place: string): void {
  if (workflowType === 'idea') {
    if (prompt === undefined) {
      refuse(`${place}prompt is required for idea.`);
    }
    return;
  }
  if (content === undefined) {
    refuse(`${place}content is required for ${workflowType}.`);
  }
  if (workflowType === 'url' && webAddress.check(content).length > 0) {
    refuse(`${place}content must be the URL of an article for url.`);
  }
}

function checkVisuals(world: MediaWorld, job: JobFields, place: string): void {
  const { visuals, mediaUrls, aiVideoModel } = job;
  // media, job object: `mediaUrls` is required when `visuals` is `library`.
  if (visuals === 'library' && (mediaUrls ?? []).length === 0) {
    refuse(`${place}mediaUrls is required when visuals is library.`);
  }
  if (aiVideoModel === undefined) {
    return;
  }
  // media, Errors 2: rejected while `visuals` is `stock` (including by default) or `library`.
  if (visuals !== 'ai') {
    refuse(`${place}aiVideoModel requires visuals to be ai.`);
  }
  if (world.options.paidPlan === false) {
    refuse(`${place}aiVideoModel requires a paid plan.`);
  }
}

/** media, Limits: `duration` is subject to the plan's maximum export length. */
function checkPlan({ options }: MediaWorld, { duration }: JobFields, place: string): void {
  const { maxExportMinutes = 15 } = options;
  if (duration !== undefined && duration > maxExportMinutes) {
    refuse(`${place}duration is over the plan's ${maxExportMinutes} minutes.`);
  }
}

/** media, Errors 1: a kit the caller cannot use is never silently ignored. */
function checkBrand({ brandKits }: MediaWorld, brandId: string | undefined): void {
  if (brandId === undefined || brandKits.some((kit) => kit.brandId === brandId)) {
    return;
  }
  refuse('Brand kit not found or deleted.');
}

/** Removes the fields without effect, according to the job object's rules. */
function withoutIdleFields(job: JobFields): JobFields {
  const idle = new Set<string>();
  if (job.templateId !== undefined) {
    idle.add('subtitlePresetId');
  }
  if (job.visuals !== 'ai') {
    idle.add('artStyle');
  }
  if (job.aiVideoModel === undefined) {
    idle.add('aiVideoClipPercentage');
  }
  if (job.visuals === 'stock') {
    idle.add('imageAnimationPreset');
  }
  return Object.fromEntries(Object.entries(job).filter(([name]) => !idle.has(name))) as JobFields; // a part of it
}

const pronunciation: Rule<object> = {
  check: (value) =>
    isRecord(value) && typeof value.original === 'string' && typeof value.replace === 'string'
      ? []
      : wrong('must be { original, replace } with two texts.'),
};

/** media, POST /v1/generate/audio, row by row. */
const audioRules = {
  content: required(filled(10_000)),
  voiceId: required(filled()),
  voiceStyleId: orNull(filled()),
  playbackRate: optional(numberFrom(0.5, 2), 1),
  format: optional(oneOf('mp3', 'wav'), 'mp3'),
  pronunciations: listOf(pronunciation),
  webhook: webAddress,
};

/** POST /v1/generate/audio: the response only confirms acceptance. */
export function generateAudio(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const settings = readFields(audioRules, request.body);
  checkPending(world, 1);
  const { fileId } = accept(world, {
    kind: 'audio',
    name: 'Untitled file',
    folderId: undefined,
    settings,
    brand: undefined,
  });
  return { body: { fileId } };
}

/** GET /v1/generate/status */
export function getStatus(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const fileId = request.query.get('fileId');
  if (fileId === null || fileId === '') {
    refuse('fileId is required.');
  }
  const file = world.find(fileId);
  if (file === undefined) {
    throw new Refusal(world.settings.unknownFileStatus, 'UNKNOWN_FILE', 'File not found.');
  }
  return { body: recordOf(world, file) };
}

/** media, Status record. */
function recordOf(world: MediaWorld, file: MediaFile): Record<string, unknown> {
  const { unknownStatus, omitDownload } = world.outcomes.of(file.fileId);
  const isHidden = file.status === 'processing' && unknownStatus !== undefined;
  const progress = progressOf(world, file);
  return {
    fileId: file.fileId,
    [world.settings.statusField]: isHidden ? unknownStatus : wordOf(world, file),
    ...(progress === undefined ? {} : { progress }),
    ...(file.download === undefined || omitDownload ? {} : { download: file.download }),
  };
}

/** The name of the state in this world. */
function wordOf({ settings }: MediaWorld, { status }: MediaFile): string {
  if (settings.statusWords === 'upper') {
    return status.toUpperCase();
  }
  return settings.statusWords === 'other' ? otherWords[status] : status;
}

const otherWords = {
  queued: 'pending',
  processing: 'in_progress',
  success: 'completed',
  error: 'failed',
  canceled: 'cancelled',
} as const;

function progressOf(world: MediaWorld, file: MediaFile): number | undefined {
  const { progress: unit } = world.settings;
  const scripted = world.outcomes.of(file.fileId).progress;
  if (scripted === false || unit === 'none') {
    return undefined;
  }
  if (scripted !== undefined) {
    return scripted;
  }
  const share = shareDone(file, world.clock.now());
  return unit === 'percent' ? Math.floor(share * 100) : share;
}

/** Only a successful job reaches full progress. */
function shareDone({ status, startsAt, finishesAt }: MediaFile, now: number): number {
  if (status === 'success') {
    return 1;
  }
  if (status === 'queued') {
    return 0;
  }
  return Math.min(0.99, (now - startsAt) / Math.max(1, finishesAt - startsAt));
}
