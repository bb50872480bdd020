import { pgBossHandler, type PgBossJob } from 'postreel/pg-boss';
import { MediaClient, memoryJournal } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { engineContract, type OpenWorker } from '../support/media/engine-contract.js';
import { speech, video } from '../support/media/fake-time.js';

function jobOf(id: string, data: unknown): PgBossJob {
  const [own = id, name = 'videos'] = id.split('/').reverse();
  return { id: own, name, data };
}

const open: OpenWorker = (media, options) => {
  const handler = pgBossHandler(media, options);
  return async ({ id, data }) =>
    handler([jobOf(id, data)]).then(
      (result) => ({ is: 'done', result }),
      (error: unknown) => ({ is: 'failed', error: error as Error }), // as: thrown by the handler
    );
};

describe('pgBossHandler()', () => {
  engineContract(open, { stopped: 'failed', ofOther: 'failed', hopeless: 'failed' });

  const start = () => {
    const fake = createFakeMedia({ queueTime: 0 });
    const media = new MediaClient({ ...fake.options, journal: memoryJournal() });
    return { fake, media };
  };
  const save = () => Promise.resolve();

  it('says at a stop that the next try continues', async () => {
    const { media } = start();
    const handler = pgBossHandler(media, { save, signal: AbortSignal.abort() });
    await expect(handler([jobOf('1', video())])).rejects.toThrow(
      'The worker stopped. The next try continues where this one stopped.',
    );
  });

  it('releases a job that pg-boss gives to another worker', async () => {
    const { media } = start();
    const taken = new AbortController();
    media.on('job:accepted', () => taken.abort());
    const handler = pgBossHandler(media, { save });
    await expect(handler([{ ...jobOf('1', video()), signal: taken.signal }])).rejects.toThrow(
      'The next try continues',
    );
    expect(await handler([jobOf('1', video())])).toMatchObject({ kind: 'video' });
  });

  it('rejects a batch, in which one bad job would cost the others a try, and sends nothing', async () => {
    const { fake, media } = start();
    const handler = pgBossHandler(media, { save });
    const batch = [jobOf('1', speech()), jobOf('2', speech())];
    await expect(handler(batch)).rejects.toThrow(
      'use `boss.work(queue, { batchSize: 1 }, handler)`',
    );
    expect(fake.requests).toEqual([]);
  });

  it('names the pg-boss version it needs: version 9 passes a job without a list around it', async () => {
    const { media } = start();
    const handler = pgBossHandler(media, { save });
    await expect(handler(jobOf('1', speech()) as never)).rejects.toMatchObject({
      code: 'PG_BOSS_MISSING',
      message: '`pgBossHandler()` is for `boss.work()` of `pg-boss` 10 or later.',
    });
  });
});
