import type { Server } from './servers.js';
import type { VirtualClock } from './virtual-clock.js';

/** The history of one call. */
export interface CallRecord {
  refusals: number;
  takenAt: number;
  /** The network time of the accepted request and its response. */
  travelMs: number;
}

const delayMs = { least: 20, most: 120 };

/** The service behind a simulated network. It records each call. */
export class Service {
  readonly records: readonly CallRecord[];
  readonly #server: Server;
  readonly #clock: VirtualClock;
  readonly #random: () => number;

  constructor(calls: number, server: Server, clock: VirtualClock, random: () => number) {
    this.records = Array.from({ length: calls }, () => ({ refusals: 0, takenAt: 0, travelMs: 0 }));
    this.#server = server;
    this.#clock = clock;
    this.#random = random;
  }

  /** Sends one request; a rejection contains `Retry-After`, as services send it. */
  async send(call: number): Promise<Response> {
    const record = this.records[call]!;
    const sentAt = this.#clock.now;
    await this.#travel();
    const takenAt = this.#clock.now;
    const refusedMs = this.#server.arrive(takenAt);
    if (refusedMs > 0) {
      record.refusals++;
    }
    await this.#travel();
    if (refusedMs > 0) {
      return refusal(refusedMs);
    }
    Object.assign(record, { takenAt, travelMs: this.#clock.now - sentAt });
    return Response.json({ id: `con_${call}` });
  }

  #travel(): Promise<void> {
    const { least, most } = delayMs;
    return this.#clock.after(least + this.#random() * (most - least));
  }
}

function refusal(waitMs: number): Response {
  const headers = { 'retry-after': String(Math.ceil(waitMs / 1000)) };
  return Response.json({ error: 'Too many requests' }, { status: 429, headers });
}
