import { bullmqProcessor } from 'postreel/bullmq';
import { MediaClient, memoryJournal } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { engineContract, type Heard, type OpenWorker } from '../support/media/engine-contract.js';
import { speech, video } from '../support/media/fake-time.js';

/** A job as BullMQ passes it to a processor, and the recorded calls of its methods. */
function jobOf(id: string, data: unknown, attemptsMade = 0) {
  const [number = '', queueName = 'videos'] = id.split('/').reverse();
  const moves: string[] = [];
  const move = (name: string) => (token?: string) =>
    Promise.resolve(moves.push(`${name} ${token ?? ''}`));
  const job = {
    id: number,
    data,
    attemptsMade,
    queueName,
    prefix: 'bull',
    timestamp: 1_700_000_000_000,
    moveToWait: move('wait'),
    moveToDelayed: (until: number, token?: string) => {
      expect(until).toBeGreaterThan(Date.now() + 10_000);
      return move('delayed')(token);
    },
  };
  return { job, moves };
}

/** What BullMQ does after this error of a processor. */
function reactionOf(error: Error & { code?: string }, moves: readonly string[]): Heard {
  switch (error.name) {
    case 'WaitingError':
      expect(moves).toEqual(['wait token']);
      return { is: 'back' };
    case 'DelayedError':
      expect(moves).toEqual(['delayed token']);
      return { is: 'later' };
    default:
      expect(moves).toEqual([]);
      return { is: error.name === 'UnrecoverableError' ? 'final' : 'failed', error };
  }
}

const open: OpenWorker = (media, options) => {
  const processor = bullmqProcessor(media, options);
  return async ({ id, data, tries }) => {
    const { job, moves } = jobOf(id, data, tries);
    return processor(job, 'token').then(
      (result) => ({ is: 'done', result }),
      (error: unknown) => reactionOf(error as Error, moves), // as: thrown by the processor
    );
  };
};

describe('bullmqProcessor()', () => {
  engineContract(open, { stopped: 'back', ofOther: 'later', hopeless: 'final' });

  const start = () => {
    const fake = createFakeMedia({ queueTime: 0 });
    const media = new MediaClient({ ...fake.options, journal: memoryJournal() });
    const processor = bullmqProcessor(media, { save: () => Promise.resolve() });
    return { fake, processor };
  };

  it('waits for a failed file again in the first try if BullMQ has not recorded the failure', async () => {
    const { fake, processor } = start();
    fake.outcome({ status: 'error' });
    for (let run = 0; run < 2; run++) {
      await expect(processor(jobOf('1', video()).job, 'token')).rejects.toMatchObject({
        name: 'GenerationFailedError',
      });
    }
    expect(fake.files).toHaveLength(1);
  });

  it('makes a separate job if BullMQ reuses an id', async () => {
    const { fake, processor } = start();
    const { job } = jobOf('1', speech());
    await processor(job, 'token');
    await processor({ ...job, timestamp: job.timestamp + 1, data: speech({ content: 'Two.' }) });
    expect(fake.files).toHaveLength(2);
  });

  it('names the BullMQ version it needs, and sends nothing', async () => {
    const { fake, processor } = start();
    const old = { ...jobOf('1', speech()).job, moveToWait: undefined };
    await expect(processor(old as never)).rejects.toMatchObject({
      code: 'BULLMQ_MISSING',
      message: '`bullmqProcessor()` is for the jobs of a `Worker` of `bullmq` 5.55 or later.',
    });
    expect(fake.requests).toEqual([]);
  });
});
