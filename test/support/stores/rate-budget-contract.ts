import type { RateBudgetStore } from 'postreel';
import { beforeEach, describe, expect, it } from 'vitest';

const limits = { limit: 2, windowMs: 60_000, headroom: 0 };
const leaseMs = 70_000;
const briefly = { limit: 2, windowMs: 1_000, headroom: 0 };

/**
 * The tests of every store of a rate budget. Stores that use a real clock need real, short waits.
 */
export function rateBudgetContract(
  open: () => Required<RateBudgetStore>,
  passes: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
): void {
  describe('a rate budget', () => {
    let store: Required<RateBudgetStore>;
    let other: Required<RateBudgetStore>;
    let group: string;
    let count = 0;
    beforeEach(() => {
      store = open();
      other = open();
      group = `project ${++count}`;
    });

    const take = (of = limits, lease = leaseMs) => store.take(group, of, lease);
    const slotOf = async (of = limits, lease = leaseMs) => {
      const answer = await take(of, lease);
      expect(answer).toHaveProperty('slots');
      return 'slots' in answer ? (answer.slots[0] ?? '') : '';
    };

    it('gives out as many slots as the limit, whichever process asks', async () => {
      await slotOf();
      expect(await other.take(group, limits, leaseMs)).toHaveProperty('slots');
      expect(await take()).toEqual({ waitMs: 60_000 });
      expect(await other.take(group, limits, leaseMs)).toEqual({ waitMs: 60_000 });
    });

    it('counts each project separately', async () => {
      await slotOf();
      await slotOf();
      expect(await store.take(`${group}'; --`, limits, leaseMs)).toHaveProperty('slots');
    });

    it('remembers the requests of a process that has ended', async () => {
      await store.release(group, await slotOf(), limits);
      await store.release(group, await slotOf(), limits);
      const answer = await other.take(group, limits, leaseMs);
      expect('waitMs' in answer && answer.waitMs).toBeGreaterThan(50_000);
      expect('waitMs' in answer && answer.waitMs).toBeLessThanOrEqual(60_000);
    });

    it('frees a slot one window after its answer, not sooner', async () => {
      const first = await slotOf(briefly);
      await slotOf(briefly);
      await store.release(group, first, briefly);
      await passes(500);
      expect(await take(briefly)).toHaveProperty('waitMs');
      await passes(550);
      await slotOf(briefly);
    });

    it('frees an unused slot at once', async () => {
      const slot = await slotOf();
      await slotOf();
      await other.cancel(group, slot);
      await slotOf();
    });

    it('frees the slots of a dead process when their lease is over', async () => {
      await slotOf(briefly, 1_000);
      await slotOf(briefly, 1_000);
      expect(await take(briefly, 1_000)).toHaveProperty('waitMs');
      await passes(1_050);
      await slotOf(briefly, 1_000);
    });

    it('gives out several slots in one call, as many as are free', async () => {
      const many = { ...limits, limit: 5 };
      const answer = await store.take(group, many, leaseMs, 3);
      expect('slots' in answer && new Set(answer.slots).size).toBe(3);
      const rest = await other.take(group, many, leaseMs, 10);
      expect('slots' in rest && rest.slots).toHaveLength(2);
      expect(await store.take(group, many, leaseMs, 10)).toHaveProperty('waitMs');
    });

    it('keeps a slot whose lease has expired if its request was sent', async () => {
      const late = await slotOf(briefly, 50);
      await passes(80);
      await store.release(group, late, limits);
      await slotOf();
      expect(await take()).toHaveProperty('waitMs');
    });

    it('leaves headroom to other programs', async () => {
      const half = { ...limits, headroom: 0.5 };
      await slotOf(half);
      expect(await take(half)).toHaveProperty('waitMs');
    });

    it('gives out no slots for the time that the service asks, an hour at most', async () => {
      await other.close(group, 5_000);
      await other.close(group, 1_000);
      const answer = await take();
      expect('waitMs' in answer && answer.waitMs).toBeGreaterThan(4_000);
      expect('waitMs' in answer && answer.waitMs).toBeLessThanOrEqual(5_000);
      await store.close(group, 30 * 24 * 3_600_000);
      const month = await take();
      expect('waitMs' in month && month.waitMs).toBeLessThanOrEqual(3_600_000);
    });

    it('opens again when that time is over', async () => {
      await store.close(group, 600);
      expect(await take()).toHaveProperty('waitMs');
      await passes(650);
      await slotOf();
    });

    it('leases pending slots up to the limit and takes them back', async () => {
      const places = await store.lease(group, 3, 4, leaseMs);
      expect(new Set(places).size).toBe(3);
      expect(await other.lease(group, 3, 4, leaseMs)).toHaveLength(1);
      expect(await other.lease(group, 3, 4, leaseMs)).toEqual([]);
      await other.giveBack(group, places);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(3);
    });

    it('frees the pending slots of a dead process, unless they are renewed', async () => {
      await store.lease(group, 1, 2, 700);
      const [place = ''] = await store.lease(group, 1, 2, 700);
      await store.hold(group, ['file_1'], 700, [place]);
      await passes(400);
      await store.hold(group, ['file_1'], 2_000, []);
      await passes(400);
      expect(await other.lease(group, 9, 2, leaseMs)).toHaveLength(1);
    });

    it('keeps named pending slots in exchange for others, even beyond the limit', async () => {
      const places = await store.lease(group, 2, 2, leaseMs);
      await store.hold(group, ['file_1', 'file_2', 'file_3', 'file_3'], leaseMs, places);
      expect(await store.lease(group, 1, 3, leaseMs)).toEqual([]);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(1);
      await other.giveBack(group, ['file_1', 'file_3']);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(2);
    });

    it('ignores unknown pending slots, and an empty list', async () => {
      await store.giveBack(group, []);
      await store.giveBack(group, ['none']);
      await store.hold(group, [], leaseMs, []);
      expect(await store.lease(group, 0, 2, leaseMs)).toEqual([]);
    });

    it('never gives out one slot too many if many calls ask at the same time', async () => {
      const asked = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          (index % 2 ? store : other).take(group, { ...limits, limit: 7 }, leaseMs),
        ),
      );
      const slots = asked.flatMap((answer) => ('slots' in answer ? answer.slots : []));
      expect(new Set(slots).size).toBe(7);
    });
  });
}
