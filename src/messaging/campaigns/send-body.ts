import { invalidRequest, type InvalidRequestError } from '../../core/errors.js';

const sending = { method: 'POST', path: '/campaigns/{id}/send' };
const noFields = /^(Array|BigInt|Boolean|Date|Function|Map|Number|Promise|RegExp|Set|String)$/;

/** Is this an object of fields? A date has none: its body would send the campaign to everybody now. */
export function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !noFields.test(kindOf(value));
}

/** Is this a time to schedule for? Nothing at all would send to everybody now. */
export function isTime(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || kindOf(value) === 'Date';
}

/** What a value is, by its mark: in test runners and frames the classes are others. */
export function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** The error for the body of a send that is no object of fields. */
export function notFields(kind: string): InvalidRequestError {
  const message =
    `must be an object of fields; got a ${kind}. ` +
    'Use `campaigns.send(id, { scheduledFor })` or `campaigns.schedule(id, at)`';
  return invalidRequest([{ field: 'body', message }], sending);
}

/** The error for a schedule without a time. */
export function notTime(): InvalidRequestError {
  const message =
    'must be a `Date` or an ISO 8601 string; to send now, use `campaigns.sendNow(id)`';
  return invalidRequest([{ field: 'scheduledFor', message }], sending);
}
