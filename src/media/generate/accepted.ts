import { UnexpectedResponseError } from '../../core/errors.js';
import { bodyOf, idOf, recordOf, type JobRecord } from '../jobs/job.js';
import { routes } from './routes.js';

/** The jobs in the response to a call. */
export interface AcceptedJobs {
  /** The records in the order of the call; `null` for a job without an id. */
  readonly jobs: readonly (JobRecord | null)[];
  /** Records of jobs that exist, but that cannot be matched to a job of the call. */
  readonly unassigned: readonly JobRecord[];
}

/** A call was accepted, but not every job has an id. The jobs may exist: do not submit them again. */
export class FileIdsMissingError extends UnexpectedResponseError {
  /** The files that exist. */
  readonly fileIds: readonly string[];
  readonly accepted: AcceptedJobs;
  /** The response body. */
  readonly raw: unknown;

  constructor(path: string, accepted: AcceptedJobs, raw: unknown) {
    const { jobs, unassigned } = accepted;
    const fileIds = [...jobs, ...unassigned].flatMap((job) => (job ? [job.fileId] : []));
    const known = fileIds.length === 0 ? '' : ` The files that exist: ${fileIds.join(', ')}.`;
    const message = `POST ${path} was answered with ${fileIds.length} file ids for ${jobs.length} jobs.${known}`;
    super(message, { code: 'FILE_IDS_MISSING', method: 'POST', outcome: 'unknown', path });
    this.fileIds = fileIds;
    this.accepted = accepted;
    this.raw = raw;
  }
}

/** Reads the records of accepted videos. Throws a `FileIdsMissingError` when an id is missing. */
export function videoRecords(answer: unknown, wanted: number): JobRecord[] {
  const body = bodyOf(answer);
  const list = body['filesCreated'];
  const items: readonly unknown[] = Array.isArray(list) ? list : [];
  const folder = idOf(body['folderId']);
  const records = items.map((item) => recordOf(item, 'video', folder));
  // Only a full list shows which id belongs to which job: "in submitted order". Extra ids are kept, too.
  const isFull = items.length >= wanted;
  const accepted = isFull ? matchByOrder(records) : leaveUnassigned(records, wanted);
  return requireAllIds(accepted, routes.video.path, answer);
}

// Two jobs cannot have the same file. An id that occurs twice cannot be matched to a job.
function matchByOrder(records: readonly (JobRecord | null)[]): AcceptedJobs {
  const counts = new Map<string, number>();
  for (const record of records) {
    if (record) {
      counts.set(record.fileId, (counts.get(record.fileId) ?? 0) + 1);
    }
  }
  const isUnique = ({ fileId }: JobRecord) => counts.get(fileId) === 1;
  const jobs = records.map((record) => (record && isUnique(record) ? record : null));
  const doubtful = records.filter((record) => record !== null && !isUnique(record));
  return { jobs, unassigned: leaveUnassigned(doubtful, 0).unassigned };
}

function leaveUnassigned(records: readonly (JobRecord | null)[], wanted: number): AcceptedJobs {
  const known = new Map(records.flatMap((record) => (record ? [[record.fileId, record]] : [])));
  return { jobs: Array.from({ length: wanted }, () => null), unassigned: [...known.values()] };
}

/** Reads the record of an accepted audio. Throws a `FileIdsMissingError` when its id is missing. */
export function audioRecords(answer: unknown): JobRecord[] {
  const body = bodyOf(answer);
  const accepted = { jobs: [recordOf(body['fileId'], 'audio', undefined)], unassigned: [] };
  return requireAllIds(accepted, routes.audio.path, answer);
}

function requireAllIds(accepted: AcceptedJobs, path: string, raw: unknown): JobRecord[] {
  const known = accepted.jobs.filter((job) => job !== null);
  if (known.length < accepted.jobs.length) {
    throw new FileIdsMissingError(path, accepted, raw);
  }
  return known;
}
