import type { RequestOptions } from '../../contract/call.js';
import { isRecord } from '../../contract/records.js';
import { type ReadBack, route, type Route } from '../../contract/route.js';
import { of } from '../../contract/returns.js';
import { isPostreelError } from '../../errors/index.js';
import type { Arrival } from './attempt.js';
import { monotonicMs } from '../../async/clock.js';
import { unwrap } from '../response/envelope.js';
import type { RawInput } from '../context.js';
import type { RunningCall } from '../call.js';
import { sleep } from '../../async/timers.js';

/** Makes another call of the same client. */
export type MakeCall = (
  route: Route,
  input: RawInput,
  options: RequestOptions,
) => RunningCall<unknown>;

// A service may still be working on a call whose answer was lost: look twice.
const secondLookMs = 1_000;

/**
 * Reads back whether a call with an unknown outcome happened. Resolves to what the call would have
 * answered, or `undefined` when it has not happened as far as the service tells. Nothing is sent
 * again: a call that is still on its way would then happen twice.
 */
export async function readBack(
  { path, happened }: ReadBack,
  input: RawInput,
  { deadlineAt, ...options }: RequestOptions & { readonly deadlineAt: number },
  call: MakeCall,
): Promise<Arrival | undefined> {
  const look = route(`GET ${path as `/${string}`}`, { returns: of<unknown>() }); // paths of rows
  for (const delayMs of [0, secondLookMs]) {
    const leftMs = deadlineAt - monotonicMs() - delayMs;
    if (leftMs < 1) {
      return undefined;
    } // timers may be early by a part of a millisecond
    if (delayMs > 0) {
      await sleep(delayMs, options.signal);
    }
    const inTime = Number.isFinite(leftMs) ? { ...options, deadline: leftMs } : options;
    const { record, response } = await lookOnce(look, input, inTime, call);
    if (happened(record, input.body)) {
      return { body: record, response };
    }
  }
  return undefined;
}

async function lookOnce(look: Route, input: RawInput, options: RequestOptions, call: MakeCall) {
  const { signal, deadline, timeout } = options;
  try {
    const params = { params: input.params, isPoll: true };
    const answer = await call(look, params, { signal, deadline, timeout }).withResponse();
    const record = unwrap(answer.data);
    return { record: isRecord(record) ? record : {}, response: answer.response };
  } catch (failure) {
    if (!isPostreelError(failure) || failure.status !== 404) {
      throw failure;
    }
    return { record: undefined, response: new Response(null, { status: 204 }) };
  }
}
