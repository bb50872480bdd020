import type { MediaJob, NamedJob } from 'postreel';
import { describe, expect, it } from 'vitest';
import { Intake } from '../../../../src/media/queue/input/intake.js';
import { speech } from '../../../support/media/fake-time.js';

const jobs: MediaJob[] = [speech()];

/** What the queue takes the only job of its input for, when the journal knows this of it. */
async function known(status: string | undefined, retryFailed: boolean) {
  const job: NamedJob = { state: 'accepted', job: { fileId: 'file_1', kind: 'audio' }, status };
  const parts = {
    problem: () => undefined,
    find: (names: readonly string[]) => Promise.resolve(new Map(names.map((name) => [name, job]))),
  };
  const intake = new Intake(parts, { name: 'animals', retryFailed });
  const [entry] = await intake.known(intake.entries(jobs));
  return entry?.known;
}

describe('a job that an earlier run submitted', () => {
  it.each([undefined, 'success', 'saved'])(
    'is followed when its last status is %s, also with `retryFailed`',
    async (status) => {
      expect(await known(status, true)).toMatchObject({ state: 'accepted' });
    },
  );

  it.each(['error', 'canceled'])('is submitted again after %s if asked', async (status) => {
    expect(await known(status, true)).toBeUndefined();
    expect(await known(status, false)).toMatchObject({ state: 'accepted' });
  });
});
