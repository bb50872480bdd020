import type { Context } from '../../context.js';
import { isPostreelError } from 'postreel';
import { messageOf } from '../../../core/errors.js';

/** What one read-only request says about a service. */
export interface ServiceCheck {
  readonly service: 'messaging' | 'media';
  /** Are address and key set? */
  readonly isConfigured: boolean;
  readonly isReachable: boolean;
  readonly isKeyAccepted: boolean;
  readonly latencyMs?: number;
  /** How far the service's clock is ahead of this machine's. */
  readonly clockAheadMs?: number;
  readonly problem?: string;
}

type Service = ServiceCheck['service'];

/** Asks a service one question that changes nothing. */
export async function checkService(service: Service, context: Context): Promise<ServiceCheck> {
  const { environment } = context;
  const prefix = service.toUpperCase();
  const missing = [`${prefix}_BASE_URL`, `${prefix}_API_KEY`].filter((name) => !environment[name]);
  const nothing = { service, isConfigured: false, isReachable: false, isKeyAccepted: false };
  if (missing.length > 0) {
    return {
      ...nothing,
      problem: `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not set`,
    };
  }
  const startedAt = Date.now();
  try {
    const response = await ask(service, context);
    const latencyMs = Date.now() - startedAt;
    const ahead = clockAhead(response, startedAt + latencyMs / 2);
    return {
      service,
      isConfigured: true,
      isReachable: true,
      isKeyAccepted: true,
      latencyMs,
      ...(ahead !== undefined && { clockAheadMs: ahead }),
    };
  } catch (error) {
    context.signal.throwIfAborted();
    return { ...nothing, isConfigured: true, ...readFailure(error, Date.now() - startedAt) };
  }
}

async function ask(service: Service, context: Context): Promise<Response | undefined> {
  const options = { signal: context.signal, retries: 0, timeout: 10_000 };
  if (service === 'messaging') {
    const messaging = await context.messaging();
    const query = { limit: 1 };
    const call = messaging.request('GET', '/contacts', { query }, options);
    return (await call.withResponse()).response;
  }
  const media = await context.media();
  const query = { fileId: 'postreel-check' };
  await media.generate.status(query, options).catch((error: unknown) => {
    // The file does not exist, and only who holds a key is told so.
    if (!isPostreelError(error) || error.status !== 404) {
      throw error;
    }
  });
  return undefined;
}

/** The header has whole seconds: less than one is no difference. */
function clockAhead(response: Response | undefined, nowMs: number): number | undefined {
  const date = Date.parse(response?.headers.get('date') ?? '');
  return Number.isNaN(date) ? undefined : Math.trunc((date - nowMs) / 1000) * 1000;
}

function readFailure(error: unknown, latencyMs: number) {
  const problem = messageOf(error);
  const hasAnswered = isPostreelError(error) && error.status !== undefined;
  return { isReachable: hasAnswered, problem, ...(hasAnswered && { latencyMs }) };
}
