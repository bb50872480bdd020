import { isPostreelError } from 'postreel';
import { messageOf } from '../../core/errors.js';
import type { Context } from '../context.js';
import { variablesOf } from '../environment.js';
import { exitCodeOf } from '../exit-codes.js';

/** The result of one read-only request to a service. */
export interface ServiceCheck {
  readonly service: 'messaging' | 'media';
  /** How many of the two settings exist: address and key. */
  readonly settings: 'none' | 'half' | 'both';
  readonly isReachable: boolean;
  readonly isKeyAccepted: boolean;
  readonly latencyMs?: number;
  /** How far the service's clock is ahead of this machine's, in milliseconds. */
  readonly clockAheadMs?: number;
  /** Whether it is a fake, whose clock may be moved. */
  readonly isFake?: boolean;
  readonly problem?: string;
  /** With a problem of a request: the code of its error. */
  readonly code?: string;
  /** With a problem: the exit code of the command. */
  readonly exitCode?: number;
}

type ServiceName = ServiceCheck['service'];

/** Sends a service one request that changes nothing. */
export async function checkService(service: ServiceName, context: Context): Promise<ServiceCheck> {
  const { environment } = context;
  const names = variablesOf(service);
  const missing = names.filter((name) => !environment[name]);
  const nothing = { service, isReachable: false, isKeyAccepted: false };
  if (missing.length > 0) {
    const isHalf = missing.length < names.length;
    const problem = isHalf
      ? `${String(missing[0])} is not set`
      : `${missing.join(' and ')} are not set`;
    return { ...nothing, settings: isHalf ? 'half' : 'none', problem, exitCode: 3 };
  }
  const startedAt = Date.now();
  try {
    const headers = await sendProbe(service, context);
    const latencyMs = Date.now() - startedAt;
    const ahead = measureClock(headers, startedAt + latencyMs / 2);
    return {
      service,
      settings: 'both',
      isReachable: true,
      isKeyAccepted: true,
      latencyMs,
      ...(ahead !== undefined && { clockAheadMs: ahead }),
      isFake: headers.get('server') === 'postreel-fake',
    };
  } catch (error) {
    context.signal.throwIfAborted();
    const hasAnswered = isPostreelError(error) && error.status !== undefined;
    return {
      ...nothing,
      settings: 'both',
      isReachable: hasAnswered,
      problem: messageOf(error),
      ...(isPostreelError(error) && { code: error.code }),
      exitCode: exitCodeOf(error),
      ...(hasAnswered && { latencyMs: Date.now() - startedAt }),
    };
  }
}

/** Returns the headers of the response, which may be an error. */
async function sendProbe(service: ServiceName, context: Context): Promise<Headers> {
  const options = { signal: context.signal, retries: 0, timeout: 10_000 };
  let headers = new Headers();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    ({ headers } = response);
    return response;
  };
  if (service === 'messaging') {
    const messaging = await context.messaging({ fetch });
    await messaging.request('GET', '/contacts', { query: { limit: 1 } }, options);
    return headers;
  }
  const media = await context.media({ fetch });
  await media.generate.status({ fileId: 'postreel-check' }, options).catch((error: unknown) => {
    // The file does not exist. Only a caller with a valid key gets this 404.
    if (!isPostreelError(error) || error.status !== 404) {
      throw error;
    }
  });
  return headers;
}

/** The header has whole seconds, so a smaller difference does not count. */
function measureClock(headers: Headers, nowMs: number): number | undefined {
  const date = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(date) ? undefined : Math.trunc((date - nowMs) / 1000) * 1000;
}
