import { UnexpectedResponseError } from '../../errors/index.js';
import type { JobRecord } from '../jobs/job.js';
import type { AudioAccepted, VideoAccepted } from './types.js';

/** The records of accepted videos; fewer than were asked for is an error that names them. */
export function videoRecords(
  { filesCreated, folderId }: VideoAccepted,
  wanted: number,
): JobRecord[] {
  const ids = (Array.isArray(filesCreated) ? filesCreated : []).filter(isId);
  if (ids.length < wanted) {
    throw lost('video', `${ids.length} file ids for ${wanted} jobs`, ids);
  }
  return ids.map((fileId) => ({ fileId, kind: 'video', folderId }));
}

/** The record of an accepted audio. */
export function audioRecords({ fileId }: AudioAccepted): JobRecord[] {
  if (!isId(fileId)) {
    throw lost('audio', 'no file id', []);
  }
  return [{ fileId, kind: 'audio' }];
}

// The ids that do exist are paid for: they must not get lost with the error.
function lost(
  kind: 'video' | 'audio',
  what: string,
  fileIds: readonly string[],
): UnexpectedResponseError {
  const known = fileIds.length === 0 ? '' : ` The files that exist: ${fileIds.join(', ')}.`;
  const path = `/v1/generate/${kind}`;
  const message = `POST ${path} was answered with ${what}.${known}`;
  return Object.assign(
    new UnexpectedResponseError(message, {
      code: 'FILE_IDS_MISSING',
      method: 'POST',
      outcome: 'unknown',
      path,
    }),
    { fileIds },
  );
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
