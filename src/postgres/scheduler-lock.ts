import { createHash } from 'node:crypto';
import { abortable, onAbort, sleep } from '../core/async.js';
import { ConfigurationError, reasonOf } from '../core/errors.js';
import { abortSignal, readOptions } from '../core/options.js';
import { isRecord } from '../core/values.js';
import type { PostgresClient } from './client.js';

/** A connection of a pool, as `pg` hands it out. */
export interface LockConnection extends PostgresClient {
  /** Gives the connection back to its pool, or ends it. */
  release(destroy?: boolean): void;
  /** Hears when the connection is lost. */
  on(event: 'error' | 'end', listener: () => void): unknown;
  /** Stops hearing. */
  removeListener(event: 'error' | 'end', listener: () => void): unknown;
}

/** A pool that lends its connections, as `pg` does. */
export interface LockPool {
  /** Lends a connection. */
  connect(): Promise<LockConnection>;
}

/** How a lock is waited for. */
export interface LockOptions {
  /** Stops waiting, or ends the work: its signal aborts too. */
  signal?: AbortSignal | undefined;
}

// A host that vanished keeps its lock until the server notices: within about half a minute so.
const keepalive = `select set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)`;
// A server that restarts is back before long.
const againMs = 1_000;

/**
 * Runs a scheduler in one process at a time; the others wait, and one goes on when the connection
 * of the first is gone. It holds one connection of the pool. When that one breaks, `signal` aborts
 * and the next in line may begin: stop submitting at once.
 *
 * @param name - What only one may do at a time, e.g. the name of the queue.
 * @param run - The work. Its result is the result of the call.
 */
export async function withSchedulerLock<Result>(
  pool: LockPool,
  name: string,
  run: (signal: AbortSignal) => Promise<Result>,
  options?: LockOptions,
): Promise<Result> {
  checkPool(pool);
  const { signal } = readOptions(
    options,
    { signal: abortSignal },
    {
      name: '`withSchedulerLock()`',
      example: '{ signal }',
    },
  );
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted();
    const held = await acquire(pool, name, signal);
    if (held instanceof HeldLock) {
      return await held.during(run);
    }
    if (tries === 1) {
      warn(name, held.reason);
    }
    await sleep(againMs, signal);
  }
}

function warn(name: string, reason: unknown): void {
  process.emitWarning(
    `The scheduler lock \`${name}\` could not be taken (${reasonOf(reason)}). It is tried again every second, and the work does not begin before.`,
    'PostreelWarning',
  );
}

function checkPool(pool: unknown): void {
  if (isRecord(pool) && typeof pool['connect'] === 'function') {
    return;
  }
  throw new ConfigurationError(
    '`withSchedulerLock()` needs a pool that lends connections. Install `pg` and pass `new Pool({ connectionString })`.',
    { code: 'POSTGRES_MISSING' },
  );
}

/** The lock, or why its connection broke while waiting. */
async function acquire(
  pool: LockPool,
  name: string,
  signal: AbortSignal | undefined,
): Promise<HeldLock | { readonly reason: unknown }> {
  const lock = new HeldLock(await pool.connect(), keyOf(name), signal);
  try {
    await lock.wait();
    return lock;
  } catch (reason) {
    lock.letGo(false);
    signal?.throwIfAborted();
    return { reason };
  }
}

/** A lock, as long as its connection lives. */
class HeldLock {
  readonly #connection: LockConnection;
  readonly #key: string;
  readonly #controller = new AbortController();
  readonly #stops: (() => void)[];
  #isBroken = false;

  constructor(connection: LockConnection, key: string, signal: AbortSignal | undefined) {
    this.#connection = connection;
    this.#key = key;
    const onBreak = () => this.#break();
    connection.on('error', onBreak);
    connection.on('end', onBreak);
    this.#stops = [
      () => connection.removeListener('error', onBreak),
      () => connection.removeListener('end', onBreak),
      onAbort(signal, () => this.#controller.abort(signal?.reason)),
    ];
  }

  /** Resolves when it is our turn; an abort leaves the line. */
  async wait(): Promise<void> {
    const { signal } = this.#controller;
    await this.#connection.query(keepalive);
    const lock = this.#connection.query('select pg_advisory_lock($1::bigint)', [this.#key]);
    await abortable(lock, signal);
  }

  async during<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    try {
      return await run(this.#controller.signal);
    } finally {
      await this.#giveBack();
    }
  }

  /** Hands the connection back; one whose lock is in doubt is closed, which frees it. */
  letGo(isFree: boolean): void {
    this.#stops.forEach((stop) => stop());
    this.#connection.release(!isFree);
  }

  #break(): void {
    this.#isBroken = true;
    this.#controller.abort(new Error('The connection that held the scheduler lock is gone.'));
  }

  async #giveBack(): Promise<void> {
    const unlock = 'select pg_advisory_unlock($1::bigint)';
    const isFree =
      !this.#isBroken &&
      (await this.#connection.query(unlock, [this.#key]).then(
        () => true,
        () => false,
      ));
    this.letGo(isFree);
  }
}

// Postgres names advisory locks by a number.
function keyOf(name: string): string {
  const digest = createHash('sha256').update(`postreel:${name}`).digest();
  return digest.readBigInt64BE(0).toString();
}
