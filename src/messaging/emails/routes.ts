import { of, route } from '../../core/route.js';
import { limits } from '../limits.js';
import type { AddressVerification, SendRequest, SendResult, VerifyRequest } from './types.js';

export const routes = {
  send: route('POST /v1/send', {
    body: of<SendRequest>(),
    returns: of<SendResult>('emails'),
    maxBodyBytes: limits.messageBytes,
    // After a 429 or a 5xx some of the recipients may have received it.
    // It is asked before the body is checked, so the body may be anything.
    handledOneByOne: (body: { to?: unknown } | undefined) =>
      Array.isArray(body?.to) && body.to.length > 1,
  }),
  verify: route('POST /v1/verify', {
    body: of<VerifyRequest>(),
    returns: of<AddressVerification>('reasons'),
    repeatable: true, // a pure check
    changes: false,
  }),
};
