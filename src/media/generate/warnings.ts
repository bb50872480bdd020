import type { VideoJob, VideoRequest } from './types.js';

/** Describes the options of a video call that will have no effect. */
export function videoWarnings({ file, folderId, payload }: VideoRequest): readonly string[] {
  const own =
    file !== undefined && folderId !== undefined
      ? ['`file` has no effect together with `folderId`: no new folder is made.']
      : [];
  const brands = new Set(payload.map(({ brandId }) => brandId));
  const mixed =
    brands.size > 1
      ? ['`payload` mixes brand kits: a kit applies to every video of its request.']
      : [];
  return [
    ...own,
    ...mixed,
    ...payload.flatMap((job, index) => jobWarnings(job, `payload[${index}]`)),
  ];
}

/** Describes the options of one video that will have no effect. */
function jobWarnings(job: VideoJob, where: string): readonly string[] {
  const { visuals = 'stock' } = job;
  const rules: readonly [unknown, boolean, string][] = [
    [
      job.subtitlePresetId,
      job.templateId !== undefined,
      'subtitlePresetId` has no effect together with `templateId',
    ],
    [
      job.imageAnimationPreset,
      visuals === 'stock',
      'imageAnimationPreset` has no effect with `visuals` `stock',
    ],
    [job.artStyle, visuals !== 'ai', 'artStyle` has no effect without `visuals` `ai'],
    [
      job.aiVideoClipPercentage,
      visuals !== 'ai' || job.aiVideoModel === undefined,
      'aiVideoClipPercentage` has no effect without `aiVideoModel` and `visuals` `ai',
    ],
  ];
  return rules
    .filter(([value, idle]) => value !== undefined && idle)
    .map(([, , rule]) => `\`${where}.${rule}\`.`);
}
