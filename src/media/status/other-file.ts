import { UnexpectedResponseError } from '../../core/errors.js';
import type { StatusRecord } from '../generate/types.js';
import { routes } from '../generate/routes.js';

/** Does a status record name a file other than the requested one? */
export function isForOtherFile(record: StatusRecord, fileId: string): boolean {
  const named: unknown = record.fileId; // the service may send an id as a number
  return (typeof named === 'string' || typeof named === 'number') && `${named}` !== fileId;
}

/**
 * The error of a status check whose response is for another file, e.g. from a cache. The check is retried.
 */
export function otherFileError(fileId: string): UnexpectedResponseError {
  const { method, path } = routes.status;
  return new UnexpectedResponseError(
    `${method} ${path} returned the status of another file than the requested ${fileId}.`,
    { code: 'UNEXPECTED_RESPONSE', status: 200, method, path, outcome: 'rejected' },
  );
}
