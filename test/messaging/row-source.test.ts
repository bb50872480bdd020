import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
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

it('a source that is not read to its end is closed before its reader continues', async () => {
  const { told, items } = source([one, one]);
  for await (const item of untilAborted(items, undefined)) {
    expect(item).toBe(1);
    break;
  }
  expect(told).toEqual(['closing', 'closed']);
});

it('a failed source is not closed again', async () => {
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

it('an abort does not wait for a source that yields nothing', async () => {
  const silent = () => new Promise(() => undefined);
  const { told, items } = source([silent]);
  const controller = new AbortController();
  const reading = untilAborted(items, controller.signal).next();
  controller.abort(new Error('enough'));
  await expect(reading).rejects.toThrow('enough');
  expect(told).toEqual(['closing']);
});

it('a rejected call closes the source that it has begun to read', async () => {
  const messaging = new MessagingClient(createFakeMessaging().options);
  const steps: string[] = [];
  async function* rows() {
    try {
      steps.push('opened');
      yield 'ann@example.com';
      await Promise.resolve();
    } finally {
      steps.push('closed');
    }
  }
  const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };
  const run = messaging.sendEach(rows(), mail, { concurrency: 0 });
  expect(steps).toEqual(['opened']); // before anything is awaited
  await expect(run).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual(['opened', 'closed']);
});

it('a promise of rows is rejected by that name, and its failure is not unhandled', async () => {
  const messaging = new MessagingClient(createFakeMessaging().options);
  const rows = Promise.reject(new Error('no file'));
  const run = messaging.contacts.deleteAll(rows as never);
  await expect(run).rejects.toThrow('got a promise: `await` it first');
});
