import { refuse, type InvalidRequestError } from '../../errors/client-errors.js';

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
  const where = { method: 'POST', path: '/campaigns/{id}/send' };
  return refuse([{ field: 'body', message }], where);
}

// By its mark: in test runners and frames the classes are others.
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}
