import { monotonicMs, sleep } from '../../async/timers.js';
import type { RequestOptions } from '../../contract/call.js';
import { isRecord } from '../../contract/records.js';
import { of, route, type ReadBack, type Route } from '../../contract/route.js';
import { isPostreelError } from '../../errors/index.js';
import type { RunningCall } from '../call.js';
import type { CallContext, RawAnswer, RawInput } from '../context.js';
import { unwrap } from '../response/read.js';

/** Makes another call of the same client. */
export type MakeCall = (
  route: Route,
  input: RawInput,
  options: RequestOptions,
) => RunningCall<unknown>;

// A service may still be working on a call whose answer was lost: read twice.
const secondReadMs = 1_000;

/**
 * Reads back whether a call with an unknown outcome happened. Resolves to what the call would have
 * answered, or `undefined` when it has not happened as far as the service shows. Nothing is sent
 * again: a call that is still on its way would then happen twice.
 */
export async function readBack(
  { path, happened }: ReadBack,
  { input, options, deadlineAt }: CallContext,
  makeCall: MakeCall,
): Promise<RawAnswer | undefined> {
  const row = route(`GET ${path as `/${string}`}`, { returns: of<unknown>() }); // paths of rows
  const { signal, timeout } = options;
  for (const delayMs of [0, secondReadMs]) {
    const leftMs = deadlineAt - monotonicMs() - delayMs;
    if (leftMs < 1) {
      return undefined; // timers may be early by a part of a millisecond
    }
    if (delayMs > 0) {
      await sleep(delayMs, signal);
    }
    const deadline = Number.isFinite(leftMs) ? leftMs : undefined;
    const { body, ...answer } = await readOnce(row, input, { signal, timeout, deadline }, makeCall);
    if (happened(body, input.body)) {
      return { body, ...answer };
    }
  }
  return undefined;
}

async function readOnce(row: Route, input: RawInput, options: RequestOptions, makeCall: MakeCall) {
  try {
    const params = { params: input.params, isPoll: true };
    const { data, ...answer } = await makeCall(row, params, options).withResponse();
    const record = unwrap(data);
    return { body: isRecord(record) ? record : {}, ...answer };
  } catch (failure) {
    if (!isPostreelError(failure) || failure.status !== 404) {
      throw failure;
    }
    const response = new Response(null, { status: 204 });
    return { body: undefined, response, requestId: undefined };
  }
}
