import { UnexpectedResponseError } from '../../core/errors.js';
import type { StatusRecord } from '../generate/types.js';
import { routes } from '../generate/routes.js';

/** Does a status record name another file than the one that was asked for? */
export function isForOtherFile(record: StatusRecord, fileId: string): boolean {
  const named: unknown = record.fileId; // an id may come as a number
  return (typeof named === 'string' || typeof named === 'number') && `${named}` !== fileId;
}

/** The error of a status check that is made again: a cache or a mix-up answered in its place. */
export function otherFile(fileId: string): UnexpectedResponseError {
  const { method, path } = routes.status;
  return new UnexpectedResponseError(
    `${method} ${path} answered for another file than ${fileId}, which was asked for.`,
    { code: 'UNEXPECTED_RESPONSE', status: 200, method, path, outcome: 'rejected' },
  );
}
