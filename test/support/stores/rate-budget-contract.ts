import type { RateBudgetStore } from 'postreel';
import { beforeEach, describe, expect, it } from 'vitest';

const limits = { limit: 2, windowMs: 60_000, headroom: 0 };
const leaseMs = 70_000;
const briefly = { limit: 2, windowMs: 1_000, headroom: 0 };

/**
 * What every store of a rate budget does, whatever it stands on. Those that go by a clock of their own need
 * real, short waits.
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

    it('hands out as many slots as the limit, whichever process asks', async () => {
      await slotOf();
      expect(await other.take(group, limits, leaseMs)).toHaveProperty('slots');
      expect(await take()).toEqual({ waitMs: 60_000 });
      expect(await other.take(group, limits, leaseMs)).toEqual({ waitMs: 60_000 });
    });

    it('counts each project for itself', async () => {
      await slotOf();
      await slotOf();
      expect(await store.take(`${group}'; --`, limits, leaseMs)).toHaveProperty('slots');
    });

    it('remembers what a process sent that is gone', async () => {
      await store.release(group, await slotOf(), limits);
      await store.release(group, await slotOf(), limits);
      const answer = await other.take(group, limits, leaseMs);
      expect('waitMs' in answer && answer.waitMs).toBeGreaterThan(50_000);
      expect('waitMs' in answer && answer.waitMs).toBeLessThanOrEqual(60_000);
    });

    it('gives a slot back one window after its answer, not sooner', async () => {
      const first = await slotOf(briefly);
      await slotOf(briefly);
      await store.release(group, first, briefly);
      await passes(500);
      expect(await take(briefly)).toHaveProperty('waitMs');
      await passes(550);
      await slotOf(briefly);
    });

    it('gives a slot back at once that was not used', async () => {
      const slot = await slotOf();
      await slotOf();
      await other.cancel(group, slot);
      await slotOf();
    });

    it('frees the slots of a process that died when their lease is over', async () => {
      await slotOf(briefly, 1_000);
      await slotOf(briefly, 1_000);
      expect(await take(briefly, 1_000)).toHaveProperty('waitMs');
      await passes(1_050);
      await slotOf(briefly, 1_000);
    });

    it('hands out several slots at once, as many as are free', async () => {
      const many = { ...limits, limit: 5 };
      const answer = await store.take(group, many, leaseMs, 3);
      expect('slots' in answer && new Set(answer.slots).size).toBe(3);
      const rest = await other.take(group, many, leaseMs, 10);
      expect('slots' in rest && rest.slots).toHaveLength(2);
      expect(await store.take(group, many, leaseMs, 10)).toHaveProperty('waitMs');
    });

    it('holds a slot whose lease had run out: it was sent all the same', async () => {
      const late = await slotOf(briefly, 50);
      await passes(80);
      await store.release(group, late, limits);
      await slotOf();
      expect(await take()).toHaveProperty('waitMs');
    });

    it('leaves room for others', async () => {
      const half = { ...limits, headroom: 0.5 };
      await slotOf(half);
      expect(await take(half)).toHaveProperty('waitMs');
    });

    it('has no slots for the time the service asks, an hour at most', async () => {
      await other.close(group, 5_000);
      await other.close(group, 1_000);
      const answer = await take();
      expect('waitMs' in answer && answer.waitMs).toBeGreaterThan(4_000);
      expect('waitMs' in answer && answer.waitMs).toBeLessThanOrEqual(5_000);
      await store.close(group, 30 * 24 * 3_600_000);
      const month = await take();
      expect('waitMs' in month && month.waitMs).toBeLessThanOrEqual(3_600_000);
    });

    it('opens again when the time is over', async () => {
      await store.close(group, 600);
      expect(await take()).toHaveProperty('waitMs');
      await passes(650);
      await slotOf();
    });

    it('leases places up to the limit and takes them back', async () => {
      const places = await store.lease(group, 3, 4, leaseMs);
      expect(new Set(places).size).toBe(3);
      expect(await other.lease(group, 3, 4, leaseMs)).toHaveLength(1);
      expect(await other.lease(group, 3, 4, leaseMs)).toEqual([]);
      await other.giveBack(group, places);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(3);
    });

    it('frees the places of a process that died, unless they are renewed', async () => {
      await store.lease(group, 1, 2, 700);
      const [place = ''] = await store.lease(group, 1, 2, 700);
      await store.hold(group, ['file_1'], 700, [place]);
      await passes(400);
      await store.hold(group, ['file_1'], 2_000, []);
      await passes(400);
      expect(await other.lease(group, 9, 2, leaseMs)).toHaveLength(1);
    });

    it('keeps places under names in exchange for others, even beyond the limit', async () => {
      const places = await store.lease(group, 2, 2, leaseMs);
      await store.hold(group, ['file_1', 'file_2', 'file_3', 'file_3'], leaseMs, places);
      expect(await store.lease(group, 1, 3, leaseMs)).toEqual([]);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(1);
      await other.giveBack(group, ['file_1', 'file_3']);
      expect(await store.lease(group, 9, 4, leaseMs)).toHaveLength(2);
    });

    it('takes no notice of places that are not there, or of none at all', async () => {
      await store.giveBack(group, []);
      await store.giveBack(group, ['none']);
      await store.hold(group, [], leaseMs, []);
      expect(await store.lease(group, 0, 2, leaseMs)).toEqual([]);
    });

    it('never hands out one too many when many ask at once', async () => {
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
