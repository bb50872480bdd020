import type { Page } from '../page.js';
import { adopt, newest } from '../queue/adoption.js';
import { pump } from '../queue/pump.js';
import * as rules from '../queue/protocol.js';
import { Life } from '../queue/state.js';
import { keysOf, measure, read } from '../queue/stores.js';
import type { Tab } from '../tab.js';
import type { OnExit } from './options.js';

/** The life of an app: one at a time, so that all that is stored is its own. */
export function createNativePage(tab: Tab, onExit: OnExit): Page {
  let stop: (() => void) | undefined;
  const begin = () => {
    tab.life = Life.Starting;
    rules.open(tab);
    pump(tab);
  };
  return {
    start: () => {
      const isFirst = !tab.isStarted;
      rules.start(tab);
      if (!isFirst) {
        return;
      }
      const comeBack = () => {
        if (tab.life === Life.Left) {
          begin();
        }
      };
      stop = onExit(() => rules.leave(tab), comeBack);
      begin();
      takeOver(tab);
    },
    retryNow: () => {
      tab.until = 0;
      pump(tab);
    },
    dispose: () => {
      // An effect that returns nothing stops nothing.
      if (typeof stop === 'function') {
        stop();
      }
      rules.leave(tab);
    },
  };
}

/** Takes over what an earlier launch has left, and removes what it had erased. */
function takeOver(tab: Tab): void {
  measure(tab);
  const records = newest(keysOf(tab).flatMap((key) => read(tab, key) ?? []));
  for (const record of records) {
    if (!rules.isAlive(tab, record)) {
      tab.deleteRecord(record);
    }
  }
  // No other tracker lives: every owner is gone.
  adopt(tab, { records, silent: new Set(records.map(({ owner = '' }) => owner)) });
}
