import { of, route } from '../../core/route.js';
import { limits } from '../limits.js';
import type { AddressVerification, SendRequest, SendResult, VerifyRequest } from './types.js';

export const routes = {
  send: route('POST /v1/send', {
    body: of<SendRequest>(),
    returns: of<SendResult>('emails'),
    maxBodyBytes: limits.messageBytes,
    // The service handles several recipients one after another: after a 429 some may have been mailed.
    partial: (body: { to?: unknown } | undefined, status) =>
      Array.isArray(body?.to) && body.to.length > 1 && (status === 429 || status === undefined),
  }),
  verify: route('POST /v1/verify', {
    body: of<VerifyRequest>(),
    returns: of<AddressVerification>('reasons'),
    repeatable: true, // a pure check
    changes: false,
  }),
};
