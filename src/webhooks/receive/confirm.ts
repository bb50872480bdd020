import { sleep } from '../../core/async.js';
import type { WebhookResult } from '../../core/types.js';
import { stageOf } from '../../core/job-status.js';
import { WebhookVerificationError } from '../../core/errors.js';

/** Reads the status of a file back from the service. */
export type ReadStatus = (fileId: string) => PromiseLike<FileState>;

// An alias, because this type has no public name: it appears in the generated declarations of users.
type FileState = { readonly status: string; readonly download?: string | undefined };

// The pauses between status reads: a status may lag behind the callback. Their sum leaves time to respond
// within five seconds.
const pausesMs = [500, 1_000, 1_500];

/**
 * Rejects a callback that the status record contradicts, or does not confirm within 3 s. The download address
 * of the record wins over that of the callback.
 */
export async function confirm(
  result: WebhookResult,
  readStatus: ReadStatus,
): Promise<WebhookResult> {
  let last = '';
  for (const pauseMs of [...pausesMs, undefined]) {
    const record = await readStatus(result.fileId);
    const confirmed = confirmWith(record, result);
    if (confirmed) {
      return confirmed;
    }
    last = record.status;
    if (pauseMs === undefined || contradicts(record, result)) {
      break;
    }
    await sleep(pauseMs, undefined);
  }
  throw new WebhookVerificationError(
    'NOT_CONFIRMED',
    `The callback says "${result.status}" for ${result.fileId}, but the file's status is "${last}".`,
  );
}

function confirmWith(record: FileState, result: WebhookResult): WebhookResult | undefined {
  const stage = stageOf(record.status);
  if (result.status === 'error') {
    return stage === 'failed' ? result : undefined;
  }
  const { fileId, status, raw } = result;
  const url: unknown = record.download;
  const isAddress = typeof url === 'string' && url !== '';
  return stage === 'done' && isAddress ? { fileId, status, url, raw } : undefined;
}

function contradicts(record: FileState, { status }: WebhookResult): boolean {
  return stageOf(record.status) === (status === 'error' ? 'done' : 'failed');
}
