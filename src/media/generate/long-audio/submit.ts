import { signatureParameter } from '../../../core/types.js';
import { invalidRequest } from '../../../core/errors.js';
import type { GenerationJob } from '../../jobs/job.js';
import { LongAudioError } from './error.js';
import { splitText, type TextPart } from './split-text.js';
import { routes } from '../routes.js';
import type { AudioRequest, LongAudioRequest } from '../types.js';
import { limits } from '../../limits.js';

/**
 * Submits one of `count` parts; `index` counts from 0. An abort has no effect once the part has been sent:
 * otherwise its id would be lost.
 */
export type SubmitPart = (
  body: AudioRequest,
  part: TextPart & { readonly index: number; readonly count: number },
  signal: AbortSignal | undefined,
) => PromiseLike<GenerationJob>;

/** The dependencies of `submitLongAudio()`. */
export interface LongAudioParts {
  /** The most jobs that may be queued or processing at one time. */
  readonly pendingLimit: number;
  readonly submit: SubmitPart;
}

/** Submits a text of any length, part by part and in order. */
export async function submitLongAudio(
  request: LongAudioRequest,
  { pendingLimit, submit }: LongAudioParts,
  signal: AbortSignal | undefined,
): Promise<GenerationJob[]> {
  const parts = partsOf(request);
  refuseSharedSignature(request, parts.length);
  const jobs: GenerationJob[] = [];
  try {
    for (const [index, part] of parts.entries()) {
      await waitForRoom(jobs, pendingLimit, signal);
      const body = await bodyOf(request, part, index);
      signal?.throwIfAborted();
      jobs.push(await submit(body, { ...part, index, count: parts.length }, signal));
    }
  } catch (error) {
    throw jobs.length > 0 ? new LongAudioError(jobs, parts.length, error) : error;
  }
  return jobs;
}

// Content that is not a text, or is empty, becomes one part: the check of the request then decides about it.
function partsOf({ content }: LongAudioRequest): TextPart[] {
  const parts = typeof content === 'string' ? splitText(content, limits.textLength) : [];
  return parts.length > 0 ? parts : [{ text: content, start: 0, end: 0 }];
}

// The callback of the first part would use up a signed URL, and the callbacks of all others would be
// rejected.
function refuseSharedSignature({ webhook }: LongAudioRequest, partCount: number): void {
  if (partCount < 2 || typeof webhook !== 'string' || !webhook.includes(signatureParameter)) {
    return;
  }
  const message = `is signed for a single callback, but the text has ${partCount} parts. Pass a function: \`(index) => inbox.url(…)\``;
  const { method, path } = routes.audio;
  throw invalidRequest([{ field: 'webhook', message }], { method, path });
}

async function bodyOf(
  { webhook, ...request }: LongAudioRequest,
  { text }: TextPart,
  index: number,
): Promise<AudioRequest> {
  const url = typeof webhook === 'function' ? await webhook(index) : webhook;
  const body = { ...request, content: text };
  return url === undefined ? body : { ...body, webhook: url };
}

// Waits for an earlier part, so that the parts of one text do not exceed the limit of pending jobs.
async function waitForRoom(
  jobs: readonly GenerationJob[],
  pendingLimit: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const oldest = jobs[jobs.length - pendingLimit];
  const wait = oldest?.waitForFile({ signal, timeout: Number.POSITIVE_INFINITY });
  await wait?.catch(() => signal?.throwIfAborted());
}
