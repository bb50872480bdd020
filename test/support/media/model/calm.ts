import type { MediaJob, QueueProgress } from 'postreel';
import { GenerationJob, MediaFile } from 'postreel/media';
import { OutstandingJobs } from '../../../../src/media/jobs/outstanding.js';
import type { QueueHost } from '../../../../src/media/queue/host.js';
import { JobQueue } from '../../../../src/media/queue/queue.js';
import { PendingSlots } from '../../../../src/media/queue/slots/slots.js';
import { RunningCall } from '../../../../src/core/call.js';
import { VirtualTime } from './time.js';

const windowMs = 600_000;

/** Runs a queue to its end, with a service that does what it says; the answer is when it ended. */
export async function calmRun(
  jobs: readonly MediaJob[],
  tookMs: (job: MediaJob) => number,
  onProgress: (progress: QueueProgress, now: number) => void = () => undefined,
): Promise<number> {
  const time = new VirtualTime();
  const host = calmHost(time, tookMs);
  const options = { onProgress: (progress: QueueProgress) => onProgress(progress, time.now()) };
  const run = { isOver: false };
  const result = finish(new JobQueue(jobs, options, () => Promise.resolve([host]))).finally(() => {
    run.isOver = true;
  });
  result.catch(() => undefined); // awaited below
  await time.settle();
  while (!run.isOver) {
    if (!(await time.step())) {
      throw new Error('nothing keeps the process alive while the queue waits');
    }
  }
  await result;
  return time.now();
}

async function finish(queue: JobQueue): Promise<void> {
  for await (const { error } of queue) {
    if (error !== undefined) {
      throw new Error('a job failed', { cause: error });
    }
  }
}

/** A host over a service whose jobs take their own time each. */
function calmHost(time: VirtualTime, tookMs: (job: MediaJob) => number): QueueHost {
  const ends: number[] = [];
  const callsAt: number[] = [];
  const none = () => Promise.reject(new Error('not in this world'));
  const handles = { appUrl: undefined, status: none as never, waitForFile: none };
  return {
    clock: time,
    owner: () => Promise.resolve('me'),
    slots: new PendingSlots({
      limit: 20,
      clock: time,
      store: undefined,
      group: 'calm',
      others: new OutstandingJobs(),
    }),
    checksCount: false,
    callAt: (now) => Math.max(now, (callsAt.at(-10) ?? -windowMs) + windowMs),
    callsMs: (count) => (count * windowMs) / 10,
    submit: (jobs) =>
      new RunningCall(async () => {
        callsAt.push(time.now());
        await time.sleep(500);
        const data = jobs.map((job) => {
          ends.push(time.now() + tookMs(job));
          return { fileId: String(ends.length - 1), kind: 'video' as const };
        });
        return { data, response: new Response(null), requestId: undefined };
      }),
    handle: (record) => new GenerationJob(record, handles),
    check: async (fileId) => {
      await time.sleep(50);
      const isDone = ends[Number(fileId)]! <= time.now();
      return isDone
        ? { fileId, status: 'success', progress: 100, download: 'https://cdn.test/file' }
        : { fileId, status: 'processing', progress: 1 };
    },
    report: () => undefined,
    reportUnknown: () => undefined,
    clean: (text) => text,
    file: (fileId, url) => new MediaFile(fileId, url, { fetch: undefined }),
    problem: () => undefined,
    nameOf: (_, job) => job,
    find: () => Promise.resolve(new Map()),
    settle: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    reportWait: () => undefined,
    warn: () => undefined,
  };
}
