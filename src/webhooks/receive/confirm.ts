import type { WebhookResult } from '../../contract/inbox.js';
import { WebhookVerificationError } from '../../errors/index.js';

/** Reads the status of a file back from the service. */
export type ReadStatus = (
  fileId: string,
) => PromiseLike<{ readonly status: string; readonly download?: string | undefined }>;

const failures: readonly string[] = ['error', 'canceled'];

/** Refuses a callback that the status record does not bear out; the record's address wins. */
export async function confirm(
  result: WebhookResult,
  readStatus: ReadStatus,
): Promise<WebhookResult> {
  const { fileId, status, raw } = result;
  const record = await readStatus(fileId);
  if (status === 'error' && failures.includes(record.status)) {
    return result;
  }
  const url = record.download;
  if (status === 'success' && record.status === 'success' && url) {
    return { ...result, url, raw };
  }
  throw new WebhookVerificationError(
    'NOT_CONFIRMED',
    `The callback says "${status}" for ${fileId}, but the file's status does not bear it out.`,
  );
}
