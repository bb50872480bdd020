import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { accept, checkPending } from '../jobs/lifecycle.js';
import { readFields, refuse, type Fields } from './rules.js';
import type { BrandKit } from '../types.js';
import { readVideoJob } from './video-job.js';
import { requestRules } from './video-rules.js';
import type { MediaWorld } from '../world.js';

/** POST /v1/generate/video: every job is accepted, or none. */
export function generateVideo(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const { payload, file, folderId } = readFields(requestRules, request.body);
  const jobs = (Array.isArray(payload) ? payload : []).map((job: unknown, index) =>
    readVideoJob(world, job, `payload[${index}].`),
  );
  if (jobs.length === 0) {
    refuse('payload must have at least one job.');
  }
  checkFolder(world, folderId);
  checkPending(world, jobs.length);
  const folder = typeof folderId === 'string' ? folderId : createFolder(world, file);
  const files = jobs.map((settings) =>
    accept(world, {
      kind: 'video',
      name: String(settings.fileName),
      folderId: folder,
      settings,
      brand: brandOf(world, settings, jobs),
    }),
  );
  const data = { folderId: folder, filesCreated: files.map(({ fileId }) => fileId) };
  return { body: { success: true, data } };
}

/** The document does not say what an unknown folder is: 404. */
function checkFolder({ folders }: MediaWorld, folderId: unknown): void {
  if (folderId === undefined || folders.some((folder) => folder.folderId === folderId)) {
    return;
  }
  throw new Refusal(404, 'UNKNOWN_FOLDER', 'Folder not found.');
}

/** media, top-level fields: without `folderId` a new folder named by `file` is created. */
function createFolder(world: MediaWorld, name: unknown): string {
  const folderId = world.id('folder');
  // The document names no default: a nameless folder is called like a nameless file.
  world.folders.push({ folderId, name: typeof name === 'string' ? name : 'Untitled folder' });
  return folderId;
}

/** media, Brand kit behaviour: applies to every video of the request, so also to jobs that name none. */
function brandOf(
  { brandKits }: MediaWorld,
  settings: Fields,
  jobs: readonly Fields[],
): BrandKit | undefined {
  const brandId = settings.brandId ?? jobs.find((job) => job.brandId !== undefined)?.brandId;
  return brandKits.find((kit) => kit.brandId === brandId);
}
