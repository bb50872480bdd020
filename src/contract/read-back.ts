import { isRecord } from './records.js';

/**
 * How to tell from the service whether a call happened after its answer was lost. `undefined` as
 * the record means that the resource is not there.
 */
export interface ReadBack {
  /** The path to read, with the call's own parameters. */
  readonly path: string;
  readonly happened: (
    record: Readonly<Record<string, unknown>> | undefined,
    body: unknown,
  ) => boolean;
}

/** A delete has happened when the resource is gone. */
export function goneFrom(path: string): ReadBack {
  return { path, happened: (record) => record === undefined };
}

/** The status of a record in lower case, wherever the service puts it. */
export function statusOf(record: unknown): string {
  if (!isRecord(record)) {
    return '';
  }
  const status = record['status'] ?? record['state'];
  return typeof status === 'string' ? status.toLowerCase() : '';
}

/** A change has happened when every field that was sent now reads as it was sent. */
export function sameFields(
  record: Readonly<Record<string, unknown>> | undefined,
  body: unknown,
): boolean {
  if (!record || !isRecord(body)) {
    return false;
  }
  return Object.entries(body).every(
    ([field, value]) => JSON.stringify(record[field]) === JSON.stringify(value),
  );
}
