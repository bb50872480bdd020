import { expect, it } from 'vitest';
import { Intake } from '../../../../src/media/queue/input/intake.js';
import { speech } from '../../../support/media/fake-time.js';

it('copies each job: what the caller changes later is not submitted', () => {
  const parts = {
    problem: () => undefined,
    nameOf: (_: string, job: string) => job,
    find: () => Promise.resolve(new Map<string, never>()),
  };
  const naming = { queue: 'animals', jobOf: () => 'cat', mayRecur: false };
  const intake = new Intake([parts], naming, false);
  const job = speech({ content: 'Cats' });
  intake.entries([job]);
  job.content = 'Dogs';
  expect(intake.inputs.get(0)?.job).toMatchObject({ content: 'Cats' });
});
