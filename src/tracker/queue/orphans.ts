import { sleep } from '../send/wait.js';
import type { Tab } from '../tab.js';
import { adopt, isAlive } from './protocol.js';
import { Life } from './state.js';
import { cleanUp, readAll } from './stores.js';

/** Absent in an insecure context and in old browsers, whatever the types say. */
export const locks = (): LockManager | undefined => navigator.locks;

/** A text with the names of all tabs that live, also of those that are just starting. */
const livingTabs = async (): Promise<string> => JSON.stringify([await locks()?.query()]);

/** Takes over the events of tabs that are gone; true while other tabs have events. */
export const adoptOrphans = async (tab: Tab): Promise<boolean | undefined> => {
  if (tab.transact) {
    return adoptNow(tab);
  }
  // Nothing else can tell that exactly one tab gets each.
  return locks()?.request(`${tab.prefix}adopt`, { ifAvailable: true }, async (lock) => {
    if (!lock) {
      return true;
    }
    tab.isAlone = true;
    const isMore = await adoptNow(tab);
    // What was taken over is written by then.
    await sleep(100);
    tab.isAlone = undefined;
    return isMore;
  });
};

const adoptNow = async (tab: Tab): Promise<boolean> => {
  const before = await livingTabs();
  // What a tab wrote while leaving may reach this process later than the end of its lock.
  await sleep(1000);
  const found = await readAll(tab);
  // A tab that has started since then asked for its lock before it wrote its first event.
  const living = before + (await livingTabs());
  if (tab.life === Life.Open) {
    adopt(tab, found, locks() && living);
  }
  cleanUp(tab, found);
  return found.some((record) => isAlive(tab, record) && record.owner !== tab.owner);
};
