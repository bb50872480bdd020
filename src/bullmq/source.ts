import type * as Bullmq from 'bullmq';
import type { ConnectionOptions, Job, Queue, Worker } from 'bullmq';
import {
  callback,
  invalidOption,
  milliseconds,
  readOptions,
  text,
  type OptionKinds,
} from '../core/options.js';
import { ConfigurationError, isError } from '../core/errors.js';
import type { MediaJob } from '../media/generate/media-job.js';
import {
  readJob,
  type AcknowledgingSource,
  type SourceItem,
} from '../media/queue/input/job-source.js';

/** Where a BullMQ queue is, and how its jobs are made into media jobs. */
export interface BullmqOptions {
  connection: ConnectionOptions;
  /** What BullMQ's own keys begin with, as the queue has it. @default 'bull' */
  prefix?: string | undefined;
  /** Where jobs go that may have been submitted. @default the name of the queue and `-unknown` */
  unknown?: string | undefined;
  /** The media job in the data of a job. @default the data itself */
  jobOf?: ((data: never) => MediaJob) | undefined;
  /** How long the jobs of a process that died stay locked, in milliseconds. @default 120_000 */
  lockMs?: number | undefined;
}

/** A job taken from BullMQ. */
export type BullmqItem = SourceItem & { readonly held: Job };

/** A source that holds connections: close it when its queue has ended. */
export type BullmqSource = AcknowledgingSource<BullmqItem> & {
  /** Closes the connections that the source has opened. */
  close(): Promise<void>;
};

const bullmqOptions: OptionKinds<BullmqOptions> = {
  connection: {
    form: 'the connection of BullMQ, such as { host, port }',
    allows: (value) => typeof value === 'object' && value !== null,
  },
  prefix: text,
  unknown: text,
  jobOf: callback(),
  lockMs: milliseconds,
};

/**
 * A queue of BullMQ as the source of `media.queue()`. A job is completed once its file is stored;
 * one whose outcome is unknown goes to a second queue. A failed one is tried again as its
 * `attempts` say, and is followed where it was submitted, also after its worker died.
 */
export async function bullmqSource(queue: string, options: BullmqOptions): Promise<BullmqSource> {
  const {
    connection,
    prefix = 'bull',
    unknown = `${queue}-unknown`,
    jobOf,
    lockMs = 120_000,
  } = readOptions(options, bullmqOptions, {
    name: '`bullmqSource()`',
    example: '{ connection: { host } }',
  });
  const { Queue: Aside, Worker: Taker } = await loadBullmq();
  // JavaScript may leave it out.
  if ((connection as unknown) === undefined) {
    throw invalidOption(`\`connection\` must be ${bullmqOptions.connection.form}`);
  }
  const read = jobOf ?? ((data: MediaJob) => data);
  const token = crypto.randomUUID();
  const worker = new Taker(queue, null, { connection, prefix, autorun: false, ...lockOf(lockMs) });
  const aside = new Aside(unknown, { connection, prefix });
  worker.on('error', () => undefined); // reported by the call that fails
  aside.on('error', () => undefined);
  await worker.startStalledCheckTimer();
  return {
    // Each queue numbers its jobs 1, 2, 3: its place is part of their names.
    name: `bullmq/${prefix}/${queue}`,
    take: (count) => takeJobs(worker, token, { count, read }),
    async done({ held }, { fileId }) {
      await held.moveToCompleted({ fileId }, token, false);
    },
    async fail(item, error, { outcome }) {
      if (outcome === 'unknown') {
        await setAside(aside, item, { error, token });
      } else {
        const reason = isError(error) ? error : new Error(String(error));
        await item.held.moveToFailed(reason, token, false);
      }
    },
    async release({ held }) {
      await held.moveToWait(token);
    },
    async extend({ held }) {
      await held.extendLock(token, lockMs);
    },
    async close() {
      await Promise.all([worker.close(), aside.close()]);
    },
  };
}

async function loadBullmq(): Promise<typeof Bullmq> {
  const bullmq = await import('bullmq').catch(missing);
  return 'WaitingError' in bullmq ? bullmq : missing(undefined);
}

function missing(cause: unknown): never {
  const message = '`postreel/bullmq` needs `bullmq` 5.55 or later. Install it beside `postreel`.';
  throw new ConfigurationError(message, { code: 'BULLMQ_MISSING', cause });
}

// Taking a job again is safe: the journal knows what was submitted, and it is followed.
const lockOf = (lockMs: number) => ({
  lockDuration: lockMs,
  stalledInterval: lockMs / 2,
  maxStalledCount: 1_000,
});

// First there, then gone here; a crash in between brings it again, and the id keeps it single.
async function setAside(
  aside: Queue,
  { id, job, held }: BullmqItem,
  { error, token }: { readonly error: unknown; readonly token: string },
): Promise<void> {
  await aside.add(held.name, { id, job, message: String(error) }, { jobId: `unknown-${id}` });
  await held.moveToCompleted({ unknown: true }, token, false);
}

async function takeJobs(
  worker: Worker,
  token: string,
  { count, read }: { readonly count: number; readonly read: (data: never) => MediaJob },
): Promise<BullmqItem[]> {
  const items: BullmqItem[] = [];
  try {
    while (items.length < count) {
      const held = (await worker.getNextJob(token, { block: false })) as Job | undefined; // if any
      if (held === undefined) {
        break;
      }
      items.push({ id: String(held.id), ...readJob(read, held.data), held });
    }
  } catch (error) {
    // What was taken by then is locked here; the next call says what is wrong.
    if (items.length === 0) {
      throw error;
    }
  }
  return items;
}
