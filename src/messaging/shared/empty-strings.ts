import type { DataOptions } from '../../contract/data-options.js';
import { isRecord } from '../../contract/records.js';

/** Turns empty strings in `data` into `null`, which deletes the fields, where that is wanted. */
export function withEmptyDeleted<Body>(body: Body, { emptyString }: DataOptions): Body {
  if (emptyString !== 'delete' || !isRecord(body) || !isRecord(body['data'])) {
    return body;
  }
  const entries = Object.entries(body['data']);
  const data = Object.fromEntries(
    entries.map(([key, value]) => [key, value === '' ? null : value]),
  );
  return { ...body, data };
}
