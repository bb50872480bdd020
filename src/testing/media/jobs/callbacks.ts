import type { CallbackAttempt, MediaFile } from '../types.js';
import type { MediaWorld } from '../world.js';

/** How long a receiver may take to answer. */
const patienceMs = 10_000;

/** Calls the webhook of a finished audio job. media, Events: how often is not shown. */
export async function callBack(world: MediaWorld, file: MediaFile): Promise<void> {
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

/** media, Events, table; a canceled job has no file either, so it is told as a failure. */
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
