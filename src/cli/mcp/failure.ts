import { isPostreelError } from 'postreel';
import { isError } from '../../core/errors.js';
import { dataNotice } from './service-data.js';

/** What a failed call tells the agent: never a stack, a body or a key. */
export function failureOf(error: unknown): string {
  // The message of a response quotes the service.
  const isFromService = isPostreelError(error) && error.status !== undefined;
  return (isFromService ? `${dataNotice}\n` : '') + messageOf(error);
}

/** The message of a failure, with what it leaves open. */
export function messageOf(error: unknown): string {
  if (isPostreelError(error) && error.outcome === 'unknown') {
    return `${error.message} It may have happened all the same: check before you plan it again.`;
  }
  return isError(error) ? error.message : String(error);
}
