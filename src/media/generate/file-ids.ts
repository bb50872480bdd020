import { isRecord } from '../../contract/records.js';
import type { JobRecord } from '../jobs/job.js';

/** Does an answer that says no carry the ids of jobs all the same? Then it is not a no. */
export function carriesIds(answer: unknown): boolean {
  const body = bodyOf(answer);
  const ids: unknown[] = [body['fileId']];
  for (const list of [body['filesCreated'], body['fileIds'], body['files']]) {
    ids.push(...(Array.isArray(list) ? (list as unknown[]) : []));
  }
  return ids.some((id) => recordOf(id, 'video', undefined) !== null);
}

/** The fields of an answer, with or without the envelope that the document shows. */
export function bodyOf(answer: unknown): Record<string, unknown> {
  const body = isRecord(answer) ? answer : {};
  return isRecord(body['data']) ? { ...body, ...body['data'] } : body;
}

/** The record of a job from what stands for its id: a text, a number, or an object that has it. */
export function recordOf(
  item: unknown,
  kind: JobRecord['kind'],
  folderId: string | undefined,
): JobRecord | null {
  const fileId = idOf(isRecord(item) ? (item['fileId'] ?? item['id']) : item);
  if (fileId === undefined) {
    return null;
  }
  return kind === 'video' ? { fileId, kind, folderId } : { fileId, kind };
}

/** An id, as text. */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) {
    return String(value);
  }
  return typeof value === 'string' && value !== '' ? value : undefined;
}
