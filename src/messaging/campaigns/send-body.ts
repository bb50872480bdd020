import { refuse, type InvalidRequestError } from '../../errors/client-errors.js';

const where = { method: 'POST', path: '/campaigns/{id}/send' };
const noFields = /^(Array|BigInt|Boolean|Date|Function|Map|Number|Promise|RegExp|Set|String)$/;

/** Is this an object of fields? A date has none: its body would send the campaign to everybody now. */
export function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !noFields.test(kindOf(value));
}

/** The refusal of anything else, with the call that was meant. */
export function notFields(value: unknown): InvalidRequestError {
  const message =
    `must be an object of fields; got a ${kindOf(value)}. ` +
    'Use `campaigns.send(id, { scheduledFor })` or `campaigns.schedule(id, at)`';
  return refuse([{ field: 'body', message }], where);
}

/** Is this a time to schedule for? Nothing at all would send to everybody now. */
export function isTime(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || kindOf(value) === 'Date';
}

/** The refusal of anything else. */
export function notTime(): InvalidRequestError {
  const message =
    'must be a `Date` or an ISO 8601 string; to send now, use `campaigns.sendNow(id)`';
  return refuse([{ field: 'scheduledFor', message }], where);
}

// By its mark: in test runners and frames the classes are others.
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
