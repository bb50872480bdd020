import { createClock } from 'postreel/testing';
import { Refusal } from '../../../src/testing/core/http.js';
import {
  createService,
  type Service,
  type ServiceOptions,
} from '../../../src/testing/core/service.js';

/** A service below http://fake.test/api with the given handlers; the header `x-key: wrong` is refused. */
export function makeService(
  options: Pick<ServiceOptions<string>, 'handlers'> & Partial<ServiceOptions<string>>,
): Service {
  return createService<string>({
    baseUrl: 'http://fake.test/api',
    clock: createClock(),
    service: 'messaging',
    enter(request) {
      if (request.headers.get('x-key') !== 'wrong') {
        return 'scope';
      }
      throw new Refusal(401, 'UNAUTHORIZED', 'Wrong key.');
    },
    bucket: () => 'bucket',
    limit: () => ({ limit: Infinity, windowMs: 60_000 }),
    wire: {
      request: (request) => request,
      answer: (answer) => answer,
      refusal: ({ status, code, message, details }, _request, id) => ({
        status,
        body: 'body' in details ? details.body : { code, message, id },
      }),
      deliver: (response) => response,
    },
    ...options,
  });
}
