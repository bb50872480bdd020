import type { Page } from '../page.js';
import { adopt, newest } from '../queue/adoption.js';
import { pump } from '../queue/connect.js';
import * as rules from '../queue/protocol.js';
import { Life } from '../queue/state.js';
import { keysOf, read } from '../queue/stores.js';
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
  const isBegun = () => tab.life !== Life.Held;
  return {
    start: () => {
      const isFirst = !isBegun();
      rules.grant(tab);
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
    hurry: () => {
      tab.until = 0;
      pump(tab);
    },
    dispose: () => {
      stop?.();
      rules.leave(tab);
    },
  };
}

/** Takes over what an earlier launch has left, and removes what it had erased. */
function takeOver(tab: Tab): void {
  const records = newest(keysOf(tab).flatMap((key) => read(tab, key) ?? []));
  rules.noteErasure(
    tab,
    records.find(({ id }) => id === tab.prefix),
  );
  for (const record of records) {
    if (!rules.isAlive(tab, record) && record.id !== tab.prefix) {
      tab.bury(record);
    }
  }
  // Nobody else lives.
  adopt(tab, { records, living: tab.owner });
}
