import type { RequestOptions } from '../contract/call.js';
import { isVideo, type MediaJob } from './estimate.js';
import { audioRecords, videoRecords } from './generate/accepted.js';
import { routes } from './generate/routes.js';
import type { GenerationJob } from './job.js';
import type { QueueHost, Submitting } from './queue.js';
import type { Workshop } from './workshop.js';

/** What a queue needs of a media client. */
export async function queueHost(workshop: Workshop): Promise<QueueHost> {
  const { schemas } = await import('./schemas.js');
  const { jobRefusal } = await import('./generate/check-jobs.js');
  return {
    gate: await workshop.gate(),
    rateLimit: () => workshop.connection.transport.rateLimit(),
    submit: (jobs, facts) => handIn(workshop, jobs, facts),
    adopt: (record) => workshop.adopt(record),
    // "every 10 seconds": a queue that notices late leaves places empty.
    wait: (job, signal) =>
      job.waitForFile({ signal, ...(job.kind === 'video' && { interval: 10_000 }) }),
    refresh: (jobs, signal) =>
      workshop.refresh(
        jobs.filter(({ kind }) => kind === 'video').map(({ fileId }) => fileId),
        signal,
      ),
    problem: (job) => jobRefusal(job, schemas.generate),
    earlier: () => workshop.earlier(),
  };
}

async function handIn(
  workshop: Workshop,
  jobs: readonly MediaJob[],
  { names, folderId, signal }: Submitting,
): Promise<GenerationJob[]> {
  const { transport } = workshop.connection;
  // The queue itself decides what to do after a refusal: by then more places may be free.
  const options: RequestOptions = { signal, retries: 0, priority: 'bulk' };
  const payload = jobs.filter(isVideo);
  const [first] = jobs;
  const send = () => {
    if (first === undefined || isVideo(first)) {
      const body = { payload, folderId };
      return transport
        .send(routes.video, { body }, options)
        .map((accepted) => videoRecords(accepted, payload.length));
    }
    return transport.send(routes.audio, { body: first }, options).map(audioRecords);
  };
  const records = await workshop.submit({ jobs, names, send });
  return records.map((record) => workshop.adopt(record));
}
