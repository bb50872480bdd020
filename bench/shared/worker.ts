// One of several processes that send as fast as their shared limit allows.
import Bottleneck from 'bottleneck';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { MessagingClient, type RateBudgetStore } from 'postreel';
import { postgresRateBudget } from 'postreel/postgres';
import { redisRateBudget } from 'postreel/redis';
import { RateLimiterQueue, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Task } from './race.js';

const task = JSON.parse(process.argv[2] ?? '') as Task; // as: the race writes it
const senders = 40;
const isolation = task.isolation && {
  options: `-c default_transaction_isolation=${task.isolation.replace(' ', '\\ ')}`,
};

const limiters: Readonly<Record<Task['limiter'], () => () => Promise<unknown>>> = {
  'postreel on Redis': () => ours(redisRateBudget(new Redis(task.store))),
  'postreel on Postgres': () =>
    ours(postgresRateBudget(new Pool({ connectionString: task.store, max: 6, ...isolation }))),
  bottleneck: () => {
    const { limit, windowMs } = task;
    const bottleneck = new Bottleneck({
      id: 'race',
      datastore: 'ioredis',
      Redis,
      clientOptions: { port: Number(new URL(task.store).port) },
      reservoir: limit,
      reservoirRefreshAmount: limit,
      reservoirRefreshInterval: windowMs,
      heartbeatInterval: windowMs / 40,
    }); // as: its types lack `Redis`, which its documentation has
    return () => bottleneck.schedule(plainCall);
  },
  'rate-limiter-flexible': () => {
    const limiter = new RateLimiterRedis({
      storeClient: new Redis(task.store),
      points: task.limit,
      duration: task.windowMs / 1_000,
    });
    const queue = new RateLimiterQueue(limiter, { maxQueueSize: 1_000_000 });
    return async () => {
      await queue.removeTokens(1);
      await plainCall();
    };
  },
};

if (task.skewMs) {
  setWallClock(task.skewMs);
}
const call = limiters[task.limiter]();
process.once('message', () => {
  for (let sender = 0; sender < senders; sender++) {
    void send();
  }
});
process.send?.('ready');
process.once('disconnect', () => process.exit());

async function send(): Promise<void> {
  for (;;) {
    await call().catch(() => new Promise((resolve) => setTimeout(resolve, 50)));
  }
}

function ours(store: RateBudgetStore): () => Promise<unknown> {
  const { limit, windowMs, service } = task;
  const client = new MessagingClient({
    apiKey: 'sk_race',
    baseUrl: service,
    rateLimit: { limit, windowMs, store },
  });
  return () => client.contacts.get('con_1');
}

/** Sets `Date.now()` and `new Date()` wrong, as on a host whose clock is wrong. */
function setWallClock(skewMs: number): void {
  const { now } = Date;
  globalThis.Date = class extends Date {
    constructor(...given: [] | [number | string]) {
      super(given[0] ?? now() + skewMs);
    }
    static override now = () => now() + skewMs;
  } as DateConstructor; // as: it is called with at most one argument here
}

async function plainCall(): Promise<void> {
  const response = await fetch(`${task.service}/contacts/con_1`);
  await response.text();
  if (response.status === 429) {
    const waitMs = Number(response.headers.get('retry-after')) * 1_000;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
