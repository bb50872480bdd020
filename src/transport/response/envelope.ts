import { isRecord } from '../../contract/records.js';

/**
 * Takes the result out of `{ success: true, data }`, on any endpoint: the campaign answer shows
 * that the service does not keep to its own list. A contact has a `data` field of its own, so
 * both keys must be there.
 */
export function unwrap(body: unknown): unknown {
  return isEnvelope(body) ? body.data : body;
}

/** The same for a list, whose items may themselves be under `data`. */
export function unwrapList(body: unknown): unknown {
  return isEnvelope(body) && !Array.isArray(body.data) ? body.data : body;
}

/** Does the service say no, whatever the HTTP status says? */
export function saysNo(body: unknown): boolean {
  return isRecord(body) && body['success'] === false;
}

function isEnvelope(body: unknown): body is { success: true; data: unknown } {
  return isRecord(body) && body['success'] === true && Object.hasOwn(body, 'data');
}
