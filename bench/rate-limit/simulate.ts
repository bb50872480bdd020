import type { Limiter } from './limiters.js';
import { randomFrom } from './random.js';
import { createServer, type Limits, type ServerKind } from './servers.js';
import { Service } from './service.js';
import { VirtualClock } from './virtual-clock.js';
import { callTimes, idealMs, startOf, unavoidableWaitMs, type WorkloadKind } from './workloads.js';

/** One run: the workload, the limiter of the service, and the processes. */
export interface Scene {
  readonly server: ServerKind;
  readonly workload: WorkloadKind;
  readonly seed: number;
  /** The shares of the calls among processes that do not know each other. */
  readonly shares: readonly number[];
}

/** The result of a run. */
export interface Outcome {
  readonly calls: number;
  readonly failures: number;
  /** The number of 429s. */
  readonly refusals: number;
  /** The share of calls with at least one 429, in percent. */
  readonly refusedShare: number;
  /** The ideal time divided by the measured time, in percent. */
  readonly utilization: number;
  /**
   * The average wait of a call, without the network time and the unavoidable wait for a sliding
   * limit.
   */
  readonly addedWaitMs: number;
}

/** The limits of the messaging service. */
export const limits: Limits = { limit: 1000, windowMs: 60_000 };

// A run begins up to a second after a boundary of the fixed windows.
const maxPhaseMs = 1_000;

/** Runs one scene from the first call to the last response. */
export async function simulate(scene: Scene, limiter: Limiter): Promise<Outcome> {
  const random = randomFrom(scene.seed);
  const phaseMs = random() * maxPhaseMs;
  const clock = new VirtualClock();
  const times = callTimes(scene.workload, limits, random);
  const server = createServer(scene.server, limits, phaseMs);
  const service = new Service(times.length, server, clock, random);
  let failures = 0;
  let timeMs = 0;

  await clock.run(async () => {
    const processes = scene.shares.map(() => limiter({ limits, service, clock }));
    const owners = ownersOf(times.length, scene.shares, random);
    const calls = times.map(async (at, call) => {
      await clock.after(at);
      await processes[owners[call]!]!(call).catch(() => failures++);
      timeMs += clock.now - at;
    });
    await Promise.all(calls);
  });

  const { records } = service;
  const lastTakenAt = Math.max(...records.map(({ takenAt }) => takenAt));
  const ideal = idealMs(scene, limits, phaseMs);
  const travelMs = sum(records.map((record) => record.travelMs));
  return {
    calls: times.length,
    failures,
    refusals: sum(records.map((record) => record.refusals)),
    refusedShare: (100 * records.filter((record) => record.refusals > 0).length) / times.length,
    utilization: (100 * ideal) / (lastTakenAt - startOf(scene.workload, limits.windowMs)),
    addedWaitMs: (timeMs - travelMs) / times.length - unavoidableWaitMs(times, limits),
  };
}

/** The process of each call: by the shares, in random order. */
function ownersOf(calls: number, shares: readonly number[], random: () => number): number[] {
  const owners = shares.flatMap((share, owner) =>
    new Array<number>(Math.round(share * calls)).fill(owner),
  );
  while (owners.length < calls) {
    owners.push(0);
  }
  for (let last = owners.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [owners[last], owners[other]] = [owners[other]!, owners[last]!];
  }
  return owners;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
