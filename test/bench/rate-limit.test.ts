import { describe, expect, it } from 'vitest';
import { ours } from '../../bench/rate-limit/ours.js';
import { serverKinds, type ServerKind } from '../../bench/rate-limit/servers.js';
import { simulate } from '../../bench/rate-limit/simulate.js';
import type { WorkloadKind } from '../../bench/rate-limit/workloads.js';

/** The minimum utilization in percent; a client cannot know the boundaries of a fixed window. */
const least: Readonly<Partial<Record<`${ServerKind} ${WorkloadKind}`, number>>> = {
  'sliding bulk': 99.5,
  'sliding late': 99.5,
  'bucket bulk': 99.5,
  'bucket late': 99.5,
  'fixed bulk': 98,
};

describe('five windows of work with the built package', () => {
  for (const server of serverKinds) {
    it.each(['bulk', 'late'] as const)(
      `keeps a ${server} limiter busy and never meets a 429, work: %s`,
      async (workload) => {
        const outcome = await simulate({ server, workload, seed: 4, shares: [1] }, ours());
        expect(outcome).toMatchObject({ calls: 5000, failures: 0, refusals: 0 });
        expect(outcome.utilization).toBeGreaterThanOrEqual(least[`${server} ${workload}`] ?? 0);
      },
    );

    it(`adds almost no wait at 95 % load, and never meets a 429, server: ${server}`, async () => {
      const scene = { server, workload: 'poisson', seed: 4, shares: [1] } as const;
      const outcome = await simulate(scene, ours());
      expect(outcome).toMatchObject({ failures: 0, refusals: 0 });
      expect(outcome.addedWaitMs).toBeLessThanOrEqual(50);
    });
  }
});

describe('four processes that share only a limit', () => {
  it.each([
    { server: 'sliding', shares: [0.25, 0.25, 0.25, 0.25] },
    { server: 'fixed', shares: [0.25, 0.25, 0.25, 0.25] },
    { server: 'sliding', shares: [0.7, 0.1, 0.1, 0.1] },
    { server: 'fixed', shares: [0.7, 0.1, 0.1, 0.1] },
  ] as const)('make every call, and few meet a 429: $server, $shares', async (facts) => {
    const scene = { ...facts, workload: 'bulk', seed: 4 } as const;
    const outcome = await simulate(scene, ours({ headroom: 0.05 }));
    expect(outcome.failures).toBe(0);
    expect(outcome.refusedShare).toBeGreaterThan(0);
    expect(outcome.refusedShare).toBeLessThanOrEqual(7);
  });

  it('make every call even if each of them assumes that it is alone', async () => {
    const shares = [0.25, 0.25, 0.25, 0.25];
    const scene = { server: 'sliding', workload: 'bulk', seed: 4, shares } as const;
    const outcome = await simulate(scene, ours());
    expect(outcome).toMatchObject({ calls: 5000, failures: 0 });
  });
});
