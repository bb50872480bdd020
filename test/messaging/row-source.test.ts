import { expect, it } from 'vitest';
import { untilAborted } from '../../src/messaging/shared/row-source.js';

function source(results: (() => unknown)[]) {
  const told: string[] = [];
  const iterator = {
    next: () => Promise.resolve().then(() => results.shift()?.()),
    return: () => {
      told.push('closing');
      return new Promise((resolve) => setTimeout(resolve, 1)).then(() => told.push('closed'));
    },
  };
  const items = { [Symbol.asyncIterator]: () => iterator } as unknown as AsyncIterable<number>;
  return { told, items };
}
const one = () => ({ done: false, value: 1 });

it('a source that is left early is closed before its reader goes on', async () => {
  const { told, items } = source([one, one]);
  for await (const item of untilAborted(items, undefined)) {
    expect(item).toBe(1);
    break;
  }
  expect(told).toEqual(['closing', 'closed']);
});

it('a source that fails is not closed again', async () => {
  const failing = () => {
    throw new Error('torn');
  };
  const { told, items } = source([one, failing]);
  const read = async () => {
    for await (const item of untilAborted(items, undefined)) {
      expect(item).toBe(1);
    }
  };
  await expect(read()).rejects.toThrow('torn');
  expect(told).toEqual([]);
});

it('an abort does not wait for a source that is silent', async () => {
  const silent = () => new Promise(() => undefined);
  const { told, items } = source([silent]);
  const controller = new AbortController();
  const reading = untilAborted(items, controller.signal).next();
  controller.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  expect(told).toEqual(['closing']);
});
