import { request } from '../send/request.js';
import type { Tab } from '../tab.js';
import { answered } from './answers.js';
import { tick } from './protocol.js';
import { type Entry, Life } from './state.js';

/** Sends what can be sent, and looks again every second: no wake-up can be missed. */
export const pump = (tab: Tab): void => {
  tick(tab);
  clearTimeout(tab.timer);
  if (tab.life === Life.Open && tab.entries[0]) {
    tab.timer = setTimeout(pump, 1000, tab);
  }
};

/** Sends events in one request, and hands each its answer. */
export const sendBatch = async (tab: Tab, batch: readonly Entry[]): Promise<void> => {
  const answerTo = await request(tab, batch);
  batch.forEach((entry, index) => answered(tab, entry, answerTo(index)));
  pump(tab);
};
