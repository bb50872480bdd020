import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakePage, acceptedResponse } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage>;
let locks: ReturnType<typeof fakeLocks>;
beforeEach(() => {
  locks = fakeLocks();
  page = fakePage({ navigator: { onLine: true, locks } });
});
afterEach(() => page.close());

/**
 * Web Locks that grant a lock to one tab at a time, and refuse an `ifAvailable` request while it is
 * held.
 */
function fakeLocks() {
  const held = new Set<string>();
  return {
    held,
    request: async (name: string, _: object, work: (lock: object | null) => Promise<void>) => {
      if (held.has(name)) {
        return work(null);
      }
      held.add(name);
      await work({ name });
      held.delete(name);
    },
  };
}

/**
 * Writes an event of another tab into the store; the owner '' means that the tab has released it.
 */
function plant(event: string, owner: string): string {
  const id = `postreel:test:0${event}`;
  const record = { id, at: Date.now(), owner, event, email: 'ann@example.com' };
  page.storage[id] = JSON.stringify(record);
  return id;
}
const ownerOf = (id: string) => (JSON.parse(page.storage[id] ?? '{}') as { owner?: string }).owner;
const events = () => page.sent.map(({ body }) => body.event);
const leave = () => page.events.dispatchEvent(new Event('pagehide'));
const comeBack = () =>
  page.events.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));

describe('a tab that takes over events', () => {
  it('waits 100 ms, in which another tab may have written its name', async () => {
    const [mine, theirs] = [plant('mine', ''), plant('theirs', '')];
    page.start();
    await page.pass(50);
    expect([events(), ownerOf(mine), ownerOf(theirs)]).toEqual([
      [],
      expect.stringMatching(/./),
      expect.stringMatching(/./),
    ]);
    plant('theirs', 'another tab');
    await page.pass(2000);
    expect([events(), ownerOf(theirs)]).toEqual([['mine'], 'another tab']);
  });
  it('takes nothing while another tab holds the lock, and checks again after a second', async () => {
    const id = plant('x', '');
    locks.held.add('postreel:test:take-over');
    page.start();
    await page.pass(900);
    expect([events(), ownerOf(id)]).toEqual([[], '']);
    locks.held.clear();
    await page.pass(300);
    expect(events()).toEqual(['x']);
  });
  it('takes over from tabs that do not answer for three seconds, and not from those that answer', async () => {
    const living = page.start();
    living.pause();
    const { id } = living.track('of the living');
    const owner = ownerOf(id);
    plant('of the silent', 'gone');
    page.start();
    await page.pass(2900);
    expect(events()).toEqual([]);
    await page.pass(10_000);
    expect([events(), ownerOf(id)]).toEqual([['of the silent'], owner]);
  });
  it('takes nothing from a tab that comes back within the three seconds', async () => {
    const returning = page.start();
    returning.pause();
    const owner = ownerOf(returning.track('before').id) ?? '';
    leave();
    // Another tab may still see, for a moment, the entries from before the page was left.
    plant('seen late', owner);
    vi.stubGlobal('addEventListener', () => undefined); // the other tab does not come back
    page.start();
    await page.pass(2000);
    comeBack();
    const { id } = returning.track('after');
    await page.pass(5000);
    expect(ownerOf(id)).toBe(owner);
    expect(events()).not.toContain('after');
  });
  it('releases the events if its page ends before the claim is certain, so that the next tab does not have to wait', async () => {
    plant('x', '');
    page.start();
    await page.pass(50);
    leave();
    locks.held.clear(); // as the browser does
    page.start();
    await page.pass(500);
    expect(events()).toEqual(['x']);
  });
  it('does not send its handed-over events again when its page is restored', async () => {
    let answer: (response: Response) => void = () => undefined;
    page.reply = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const { outcome } = page.start().track('x');
    await page.pass(0);
    leave();
    comeBack();
    await page.pass(1000);
    answer(acceptedResponse());
    await page.pass(0);
    expect(await outcome).toEqual({ status: 'delivered' });
    expect(events()).toEqual(['x']);
  });
});
