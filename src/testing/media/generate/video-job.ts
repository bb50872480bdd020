import { readFields, refuse, webAddress, type Fields } from './rules.js';
import { jobRules } from './video-rules.js';
import type { MediaWorld } from '../world.js';

/** Reads one job object of a video request, or refuses it. */
export function readVideoJob(world: MediaWorld, body: unknown, place: string): Fields {
  const job = readFields(jobRules, body, place);
  checkSource(job, place);
  checkVisuals(world, job, place);
  checkPlan(world, job, place);
  checkBrand(world, job.brandId);
  return withoutIdleFields(job);
}

/** media, job object: `content` for `script` and `url`, `prompt` for `idea`. */
function checkSource({ workflowType, content, prompt }: Fields, place: string): void {
  if (workflowType === 'idea') {
    if (prompt === undefined) {
      refuse(`${place}prompt is required for idea.`);
    }
    return;
  }
  if (content === undefined) {
    refuse(`${place}content is required for ${String(workflowType)}.`);
  }
  if (workflowType === 'url' && webAddress(content) !== undefined) {
    refuse(`${place}content must be the URL of an article for url.`);
  }
}

function checkVisuals(world: MediaWorld, job: Fields, place: string): void {
  const { visuals, mediaUrls, aiVideoModel } = job;
  // media, job object: `mediaUrls` is required when `visuals` is `library`.
  if (visuals === 'library' && !(Array.isArray(mediaUrls) && mediaUrls.length > 0)) {
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
function checkPlan({ options }: MediaWorld, { duration }: Fields, place: string): void {
  const { maxExportMinutes = 15 } = options;
  if (typeof duration === 'number' && duration > maxExportMinutes) {
    refuse(`${place}duration is over the plan's ${maxExportMinutes} minutes.`);
  }
}

/** media, Errors 1: a kit the caller cannot use is never silently ignored. */
function checkBrand({ brandKits }: MediaWorld, brandId: unknown): void {
  if (brandId === undefined || brandKits.some((kit) => kit.brandId === brandId)) {
    return;
  }
  refuse('Brand kit not found or deleted.');
}

/** Drops what has no effect according to the job object's rules. */
function withoutIdleFields(job: Fields): Fields {
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
  return Object.fromEntries(Object.entries(job).filter(([name]) => !idle.has(name)));
}
