import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { accept, checkPending } from '../jobs/lifecycle.js';
import { readFields, refuse, type Fields } from './rules.js';
import type { BrandKit, MediaFile } from '../types.js';
import { readVideoJob } from './video-job.js';
import { requestRules } from './video-rules.js';
import type { MediaWorld } from '../world.js';

/** POST /v1/generate/video: every job is accepted or none, or one after another up to a refused one. */
export function generateVideo(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const { payload, file, folderId } = readFields(requestRules, request.body);
  const given: readonly unknown[] = Array.isArray(payload) ? payload : [];
  if (given.length === 0) {
    refuse('payload must have at least one job.');
  }
  const isLoop = world.settings.batch === 'loop';
  const jobs = isLoop ? [] : given.map((job, index) => readJob(world, job, index));
  checkFolder(world, folderId);
  checkPending(world, jobs.length);
  const folder = typeof folderId === 'string' ? folderId : createFolder(world, file);
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

function readJob(world: MediaWorld, job: unknown, index: number): Fields {
  return readVideoJob(world, job, `payload[${index}].`);
}

function acceptVideo(
  world: MediaWorld,
  settings: Fields,
  { folder, jobs }: { readonly folder: string; readonly jobs: readonly Fields[] },
): MediaFile {
  return accept(world, {
    kind: 'video',
    name: String(settings.fileName),
    folderId: folder,
    settings,
    brand: brandOf(world, settings, jobs),
  });
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
