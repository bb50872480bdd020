import { signatureParameter } from '../../../core/types.js';
import { invalidRequest } from '../../../core/errors.js';
import type { GenerationJob } from '../../jobs/job.js';
import { LongAudioError } from './error.js';
import { splitText, type TextPart } from './split-text.js';
import { routes } from '../routes.js';
import type { AudioRequest, LongAudioRequest } from '../types.js';
import { limits } from '../../limits.js';

/** Submits one part of `count`; `index` counts from 0. An abort ends it only before it is sent: later its id would be lost. */
export type SubmitPart = (
  body: AudioRequest,
  part: TextPart & { readonly index: number; readonly count: number },
  signal: AbortSignal | undefined,
) => PromiseLike<GenerationJob>;

/** What it takes to submit a text in parts. */
export interface LongAudioHost {
  /** How many jobs may be queued or processing at one time. */
  readonly pendingLimit: number;
  readonly submit: SubmitPart;
}

/** Submits a text of any length, part by part and in order. */
export async function submitLongAudio(
  request: LongAudioRequest,
  { pendingLimit, submit }: LongAudioHost,
  signal: AbortSignal | undefined,
): Promise<GenerationJob[]> {
  const parts = partsOf(request);
  refuseSharedSignature(request, parts.length);
  const jobs: GenerationJob[] = [];
  try {
    for (const [index, part] of parts.entries()) {
      await roomAfter(jobs, pendingLimit, signal);
      const body = await bodyOf(request, part, index);
      signal?.throwIfAborted();
      jobs.push(await submit(body, { ...part, index, count: parts.length }, signal));
    }
  } catch (error) {
    throw jobs.length > 0 ? new LongAudioError(jobs, parts.length, error) : error;
  }
  return jobs;
}

// Whatever is not text is left to the check of the request, which refuses it.
function partsOf({ content }: LongAudioRequest): TextPart[] {
  const parts = typeof content === 'string' ? splitText(content, limits.textLength) : [];
  return parts.length > 0 ? parts : [{ text: content, start: 0, end: 0 }];
}

// The first part would use the address up, and the callbacks of all others would be refused.
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

// A text of many parts must not exceed the limit of pending jobs by itself.
async function roomAfter(
  jobs: readonly GenerationJob[],
  pendingLimit: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const oldest = jobs[jobs.length - pendingLimit];
  const wait = oldest?.waitForFile({ signal, timeout: Number.POSITIVE_INFINITY });
  await wait?.catch(() => signal?.throwIfAborted());
}
