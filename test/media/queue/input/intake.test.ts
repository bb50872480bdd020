import type { MediaJob } from 'postreel';
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

it('says that a job cannot be sent which has no form in JSON', () => {
  const parts = {
    problem: () => undefined,
    nameOf: (_: string, job: string) => job,
    find: () => Promise.resolve(new Map<string, never>()),
  };
  const circular: Record<string, unknown> = { ...speech() };
  circular['self'] = circular;
  const jobs = [circular, { ...speech(), count: 1n }] as unknown as MediaJob[];
  const naming = { queue: 'animals', jobOf: (job: MediaJob) => String(jobs.indexOf(job)) };
  const intake = new Intake([parts], { ...naming, mayRecur: true }, false);
  for (const { problem } of intake.entries(jobs)) {
    expect(problem).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
  }
});
