import { parseDuration } from '../../core/time/duration.js';
import { Refusal } from '../../core/http/refusal.js';
import { callBack } from './callbacks.js';
import { lengthOf, usualDurationMs } from './durations.js';
import type { Outcome, MediaFile } from '../types.js';
import type { MediaWorld } from '../world.js';

/** media, Limits: 20 queued or processing jobs at a time, here per account. */
export function checkPending({ files, options, settings }: MediaWorld, added: number): void {
  const { pendingLimit = 20 } = options;
  const pending = files.filter(isPending).length;
  if (pending + added <= pendingLimit) {
    return;
  }
  // media, Errors 5 leaves the answer open: 429, and nothing of the request is accepted.
  const headers = settings.capRetryAfter ? { 'Retry-After': '30' } : {};
  throw new Refusal(429, 'PENDING_LIMIT', `At most ${pendingLimit} jobs may be pending.`, {
    headers,
  });
}

const isPending = ({ status }: MediaFile) => status === 'queued' || status === 'processing';

/** Takes a job in: it is queued, then processed, then finished, as the clock goes. */
export function accept(
  world: MediaWorld,
  job: Pick<MediaFile, 'kind' | 'name' | 'folderId' | 'settings' | 'brand'>,
): MediaFile {
  const { clock, options } = world;
  const fileId = world.id('file');
  const lengthSeconds = lengthOf(job);
  const acceptedAt = clock.now();
  const draft = {
    ...job,
    fileId,
    lengthSeconds,
    credits: Math.ceil(lengthSeconds / 60),
    status: 'queued' as const,
    download: undefined,
    revision: 1,
    acceptedAt,
    startsAt: acceptedAt,
    finishesAt: acceptedAt,
  };
  const outcome = world.outcomes.take(draft) ?? {};
  const totalMs = parseDuration(outcome.after ?? (options.durations ?? usualDurationMs)(draft));
  const queuedMs = Math.min(parseDuration(options.queueTime ?? '3s'), totalMs);
  const file: MediaFile = {
    ...draft,
    startsAt: acceptedAt + queuedMs,
    finishesAt: acceptedAt + totalMs,
  };
  world.files.push(file);
  if (world.settings.transitions === 'through-processing') {
    clock.after(queuedMs, () => {
      file.status = 'processing';
    });
  }
  clock.after(totalMs, () => finish(world, file, outcome));
  return file;
}

function finish(world: MediaWorld, file: MediaFile, outcome: Outcome): Promise<void> | undefined {
  // A reset in between has forgotten the file.
  if (!world.files.includes(file)) {
    return undefined;
  }
  file.status = outcome.status ?? 'success';
  if (file.status === 'success') {
    file.download = downloadOf(world, file);
  }
  return callBack(world, file);
}

function downloadOf({ cdnUrl }: MediaWorld, { fileId, settings }: MediaFile): string {
  return `${cdnUrl}/${fileId}.${String(settings.extension ?? settings.format)}`;
}
