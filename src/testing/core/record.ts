import type { Clock } from './time/clock.js';
import type { FakeRequest } from './types.js';

/** A request that reached the fake. */
export interface RecordedRequest {
  readonly method: string;
  /** The path below the service's base address, without the query. */
  readonly path: string;
  /** The row of the endpoint table, e.g. `GET /contacts/{id}`; `undefined` for a path outside of it. */
  readonly endpoint: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON body, or the `FormData` of a multipart body. */
  readonly body: unknown;
  /** The time on the fake's clock, in milliseconds since 1970. */
  readonly at: number;
  /** The status that was answered; `undefined` while pending and when no answer was sent. */
  status: number | undefined;
}

export interface Recorder {
  readonly requests: RecordedRequest[];
  add(request: FakeRequest, endpoint: string | undefined): RecordedRequest;
}

export function createRecorder(clock: Clock): Recorder {
  const requests: RecordedRequest[] = [];
  return {
    requests,
    add(request, endpoint) {
      const record: RecordedRequest = {
        method: request.method,
        path: request.path,
        endpoint,
        query: Object.fromEntries(request.query),
        headers: Object.fromEntries(request.headers),
        body: request.body ?? request.form,
        at: clock.now(),
        status: undefined,
      };
      requests.push(record);
      return record;
    },
  };
}
