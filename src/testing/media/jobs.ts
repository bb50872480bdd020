import { parseDuration } from '../core/clock.js';
import { Refusal } from '../core/http.js';
import type { World } from '../core/types.js';
import type { FakeMediaOptions, MediaBehavior } from './settings.js';
import type { BrandKit, CallbackAttempt, MediaFile, MediaFolder, Outcome } from './types.js';

/** The state of a fake media service with one account. */
export interface MediaWorld extends World {
  readonly options: FakeMediaOptions;
  readonly settings: MediaBehavior;
  readonly baseUrl: string;
  readonly cdnUrl: string;
  readonly apiKey: string;
  readonly apiKeys: Set<string>;
  readonly files: MediaFile[];
  readonly folders: MediaFolder[];
  readonly brandKits: BrandKit[];
  readonly callbacks: CallbackAttempt[];
  readonly outcomes: Outcomes;
  /** Finds a file that is still kept by its id. */
  find(fileId: string): MediaFile | undefined;
  reset(): void;
}

/** media, Limits: 20 queued or processing jobs at a time, here per account. */
export function checkPending({ files, options, settings }: MediaWorld, added: number): void {
  const { pendingLimit = 20 } = options;
  const pending = files.filter(isPending).length;
  if (pending + added <= pendingLimit) {
    return;
  }
  // media, Errors 5 leaves the response open: 429, and no job of the request is accepted.
  const headers = settings.capRetryAfter ? { 'Retry-After': '30' } : {};
  throw new Refusal(
    settings.capStatus,
    'PENDING_LIMIT',
    `At most ${pendingLimit} jobs may be pending.`,
    {
      headers,
    },
  );
}

const isPending = ({ status }: MediaFile) => status === 'queued' || status === 'processing';

/** Accepts a job: it is queued, then processed, then finished, as the clock advances. */
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
  // A reset in between has removed the file.
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

/** A job before its times are known. */
export type Job = Pick<MediaFile, 'fileId' | 'kind' | 'name' | 'settings'>;

/** The scripted endings of future jobs. */
export interface Outcomes {
  /** Scripts the ending of the next matching job; returns the function that removes the script. */
  script(outcome: Outcome, match?: (job: Job) => boolean): () => void;
  /** The ending of this job, if one was scripted. */
  take(job: Job): Outcome | undefined;
  /** The ending of an accepted job. */
  of(fileId: string): Outcome;
  clear(): void;
}

interface Script {
  readonly outcome: Outcome;
  readonly match: (job: Job) => boolean;
  left: number;
}

export function createOutcomes(): Outcomes {
  let scripts: Script[] = [];
  const taken = new Map<string, Outcome>();
  return {
    script(outcome, match = () => true) {
      const script = { outcome, match, left: outcome.times ?? 1 };
      scripts.push(script);
      return () => {
        scripts = scripts.filter((other) => other !== script);
      };
    },
    take(job) {
      const script = scripts.find(({ left, match }) => left > 0 && match(job));
      if (script === undefined) {
        return undefined;
      }
      script.left -= 1;
      taken.set(job.fileId, script.outcome);
      return script.outcome;
    },
    of: (fileId) => taken.get(fileId) ?? {},
    clear() {
      scripts = [];
      taken.clear();
    },
  };
}

/** The time limit for the response of a receiver, in milliseconds. */
const patienceMs = 10_000;

/** Calls the webhook of a finished audio job. media, Events: how often is not shown. */
async function callBack(world: MediaWorld, file: MediaFile): Promise<void> {
  await callOnce(world, file);
  if (world.settings.callbacks === 'twice') {
    await callOnce(world, file);
  }
}

function callOnce(world: MediaWorld, file: MediaFile): Promise<void> | undefined {
  const { webhook } = file.settings;
  if (typeof webhook !== 'string') {
    return undefined;
  }
  const attempt: CallbackAttempt = {
    fileId: file.fileId,
    url: webhook,
    body: bodyOf(file),
    at: world.clock.now(),
    status: undefined,
    error: undefined,
  };
  world.callbacks.push(attempt);
  return deliver(attempt, world.options.callback ?? ((input, init) => fetch(input, init)));
}

/** media, Events, table; a canceled job has no file either, so it is reported as a failure. */
function bodyOf({ fileId, download }: MediaFile): unknown {
  return download === undefined
    ? { success: false, data: { id: fileId } }
    : { success: true, data: { id: fileId, file: download } };
}

async function deliver(attempt: CallbackAttempt, callback: typeof fetch): Promise<void> {
  try {
    const response = await callback(attempt.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(attempt.body),
      signal: AbortSignal.timeout(patienceMs),
    });
    attempt.status = response.status;
    await response.body?.cancel();
  } catch (error) {
    attempt.error = error;
  }
}

const wordsPerMinute = 150;

/** The playing time in seconds: the requested duration, or the time that it takes to read the text. */
function lengthOf(job: Pick<MediaFile, 'settings' | 'brand'>): number {
  const { duration, content, playbackRate, workflowType } = job.settings;
  const rate = typeof playbackRate === 'number' ? playbackRate : 1;
  // media, Brand kit behaviour: intro and outro lengthen the video.
  const extra = (job.brand?.introSeconds ?? 0) + (job.brand?.outroSeconds ?? 0);
  if (typeof duration === 'number') {
    return duration * 60 + extra;
  }
  const isRead = typeof content === 'string' && workflowType !== 'url';
  return Math.ceil((isRead ? (countWords(content) * 60) / wordsPerMinute : 60) / rate) + extra;
}

/** The usual time for services of this kind: about two minutes per minute of video, seconds for speech. */
function usualDurationMs({ kind, lengthSeconds, settings }: MediaFile): number {
  if (kind === 'video') {
    return 60_000 + 2_000 * lengthSeconds;
  }
  const length = typeof settings.content === 'string' ? settings.content.length : 0;
  return 4_000 + 2 * length;
}

const countWords = (content: string) => content.split(/\s+/).filter(Boolean).length;
