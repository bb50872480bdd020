import type { RequestOptions } from '../../contract/call.js';
import type { Route } from '../../contract/route.js';
import { InvalidRequestError } from '../../errors/index.js';
import type { Journey } from '../send/attempt.js';
import { build } from './build.js';
import type { CallState } from '../call.js';
import { monotonicMs } from '../../async/clock.js';
import type { OutgoingRequest } from '../send/http.js';
import type { RawInput, TransportParts } from '../context.js';
import { refuse } from '../../errors/client-errors.js';
import { oneOf, positive } from '../settings.js';
import { fillPath } from './url.js';

/** A call that is ready for its checks: what it is about, and what every attempt sends. */
export interface Prepared {
  readonly journey: Journey;
  readonly request: OutgoingRequest;
}

/** Builds a call from its row, input and options. Nothing that the caller changes later matters. */
export function prepare(
  route: Route,
  input: RawInput,
  options: RequestOptions,
  { parts, state }: { parts: TransportParts; state: CallState },
): Prepared {
  try {
    const path = fillPath(route.path, input.params);
    const { query, body, isPoll = false } = input;
    const { settings, session } = parts;
    const { headers } = options;
    return {
      journey: journeyOf(route, path, options, { settings, state, input }),
      request: build({ route, path, query, body, headers, isPoll }, settings, session),
    };
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) {
      throw error;
    }
    throw refuse(error.fieldErrors, { method: route.method, path: route.path });
  }
}

function journeyOf(
  route: Route,
  path: string,
  options: RequestOptions,
  {
    settings,
    state,
    input,
  }: Pick<TransportParts, 'settings'> & { state: CallState; input: RawInput },
): Journey {
  const { timeout, deadline } = options;
  return {
    route,
    path,
    state,
    isPartial: route.handledOneByOne?.(input.body as never) ?? false, // rows know their bodies
    isCharged: input.isCharged ?? route.charged,
    signal: options.signal,
    timeoutMs: timeout === undefined ? settings.timeoutMs : positive('timeout', timeout),
    deadlineAt:
      deadline === undefined
        ? Number.POSITIVE_INFINITY
        : monotonicMs() + positive('deadline', deadline),
    priority: oneOf('priority', options.priority ?? 'interactive', ['interactive', 'bulk']),
    maxQueueMs: settings.maxQueueMs,
  };
}
