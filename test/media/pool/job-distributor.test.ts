import type { MediaJob } from 'postreel';
import { describe, expect, it } from 'vitest';
import { JobDistributor, type AssignedJob } from '../../../src/media/pool/job-distributor.js';

const video = (duration: number): MediaJob => ({
  workflowType: 'idea',
  workflowFormat: 'video',
  voiceId: 'voice_1',
  prompt: `${duration} minutes`,
  duration,
});

/** A distributor whose jobs are named by their prompts; `earlier` says who had which. */
function dealing(jobs: Iterable<MediaJob>, earlier: Readonly<Record<string, number>> = {}) {
  const owners = new Map<string, number>();
  const asked: number[] = [];
  const distributor = new JobDistributor(jobs, 2, {
    nameOf: (job) => ('prompt' in job ? job.prompt : undefined),
    earlierOwners: (names) => {
      asked.push(names.length);
      return Promise.resolve(new Map(Object.entries(earlier)));
    },
    ownerOf: (name) => owners.get(name),
    give: (name, key) => owners.set(name, key),
    onOwnerMissing: () => undefined,
  });
  const next = (key: number) => distributor.next(key, () => true);
  return { distributor, next, asked };
}

const placesOf = (assigned: readonly (AssignedJob | undefined)[]) =>
  assigned.map((one) => one?.index);

describe('the jobs of a pool', () => {
  it('are assigned longest first, whichever key asks', async () => {
    const { next } = dealing([1, 4, 2, 5, 3].map(video));
    const assigned = [await next(0), await next(1), await next(1), await next(0), await next(1)];
    expect(placesOf(assigned)).toEqual([3, 1, 4, 2, 0]);
  });

  it('go first to the key that had them in an earlier run, which one question tells', async () => {
    const { next, asked } = dealing([1, 4, 2].map(video), { '1 minutes': 1 });
    expect(placesOf([await next(1), await next(1), await next(0)])).toEqual([0, 1, 2]);
    expect(asked).toEqual([3]);
  });

  it('go to the same key when a name comes twice', async () => {
    const { next } = dealing([2, 2, 1].map(video));
    expect(placesOf([await next(0), await next(1), await next(0)])).toEqual([0, 2, 1]);
  });

  it('are read a stretch at a time, however many there are', async () => {
    let read = 0;
    const endless = function* () {
      for (;;) {
        read++;
        yield video(1);
      }
    };
    const { next } = dealing(endless());
    await next(0);
    expect(read).toBe(100);
  });
});
