import { Refusal } from '../../core/http/refusal.js';
import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { refuse } from './rules.js';
import type { MediaFile } from '../types.js';
import type { MediaWorld } from '../world.js';

/** GET /v1/generate/status */
export function getStatus(request: FakeRequest, world: MediaWorld): FakeAnswer {
  const fileId = request.query.get('fileId');
  if (fileId === null || fileId === '') {
    refuse('fileId is required.');
  }
  const file = world.find(fileId);
  if (file === undefined) {
    throw new Refusal(404, 'UNKNOWN_FILE', 'File not found.');
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

/** The state, in the words of this world. */
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

/** Only a success is done to the end. */
function shareDone({ status, startsAt, finishesAt }: MediaFile, now: number): number {
  if (status === 'success') {
    return 1;
  }
  if (status === 'queued') {
    return 0;
  }
  return Math.min(0.99, (now - startsAt) / Math.max(1, finishesAt - startsAt));
}
