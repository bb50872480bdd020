import { isCanceled } from '../../core/job-status.js';
import { isRecord } from '../../core/values.js';
import {
  GenerationCanceledError,
  GenerationFailedError,
  type WaitDetails,
} from '../../core/errors.js';
import type { StatusRecord } from '../generate/types.js';

// The document names no field for the reason of a failure. These are the usual names.
const reasonFields = ['error', 'errorMessage', 'failureReason', 'reason', 'message', 'detail'];
const maxReasonLength = 300;

/** Creates the error of a file whose generation failed or was canceled, with the service's reason. */
export function failureOf(
  fileId: string,
  status: string | undefined,
  record: StatusRecord,
  { clean, ...details }: WaitDetails & { readonly clean: (text: string) => string },
): GenerationFailedError | GenerationCanceledError {
  const reason = reasonOf(record);
  // The service wrote this text, and it may repeat a key.
  const why = reason === undefined ? '.' : `: ${clean(reason).slice(0, maxReasonLength)}`;
  const facts = { ...details, record };
  return isCanceled(status)
    ? new GenerationCanceledError(`The generation of ${fileId} was canceled${why}`, facts)
    : new GenerationFailedError(`The generation of ${fileId} failed${why}`, facts);
}

function reasonOf(record: Record<string, unknown>): string | undefined {
  for (const name of reasonFields) {
    const value = record[name];
    const text = isRecord(value) ? value['message'] : value;
    if (typeof text === 'string' && text.trim() !== '') {
      return text.trim();
    }
  }
  return undefined;
}
