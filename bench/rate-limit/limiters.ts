import Bottleneck from 'bottleneck';
import pThrottle from 'p-throttle';
import { RateLimiterMemory, RateLimiterQueue } from 'rate-limiter-flexible';
import { randomFrom } from './random.js';
import type { Limits } from './servers.js';
import type { Service } from './service.js';
import type { VirtualClock } from './virtual-clock.js';

/** The environment of one process. */
export interface World {
  readonly limits: Limits;
  readonly service: Service;
  readonly clock: VirtualClock;
}

/** Makes a call and resolves once the service has accepted it. */
export type MakeCall = (call: number) => Promise<void>;

/** Starts a process that knows the limits of the service, but not the other processes. */
export type Limiter = (world: World) => MakeCall;

/** Runs a task when the limiter allows it. */
type Gate = <T>(task: () => Promise<T>) => Promise<T>;

/** Limiters that people use, configured as their documentation shows. */
export const peers: Readonly<Record<string, Limiter>> = {
  'p-throttle': createGatedLimiter(({ limit, windowMs }) => throttleGate(limit, windowMs, false)),
  'p-throttle strict': createGatedLimiter(({ limit, windowMs }) =>
    throttleGate(limit, windowMs, true),
  ),
  bottleneck: createGatedLimiter(reservoirGate),
  'rate-limiter-flexible': createGatedLimiter(queueGate),
};

function throttleGate(limit: number, interval: number, strict: boolean): Gate {
  const inTurn = pThrottle({ limit, interval, strict })(() => Promise.resolve());
  return async (task) => {
    await inTurn();
    return task();
  };
}

function reservoirGate({ limit, windowMs }: Limits): Gate {
  const bottleneck = new Bottleneck({
    reservoir: limit,
    reservoirRefreshAmount: limit,
    reservoirRefreshInterval: windowMs,
  });
  return (task) => bottleneck.schedule(task);
}

function queueGate({ limit, windowMs }: Limits): Gate {
  const memory = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
  const queue = new RateLimiterQueue(memory, { maxQueueSize: Number.MAX_SAFE_INTEGER });
  return async (task) => {
    await queue.removeTokens(1);
    return task();
  };
}

/** A rejected call goes through the gate again, after the default delays of p-retry. */
function createGatedLimiter(createGate: (limits: Limits) => Gate): Limiter {
  return ({ limits, service, clock }) => {
    const gate = createGate(limits);
    const random = randomFrom(7);
    return async (call) => {
      for (let attempt = 0; ; attempt++) {
        const { status } = await gate(() => service.send(call));
        if (status !== 429) {
          return;
        }
        await clock.after((1 + random()) * 1000 * 2 ** Math.min(attempt, 6));
      }
    };
  };
}
