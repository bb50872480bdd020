import { callback, readOptions, text, type OptionKinds } from '../core/options.js';
import { isRecord } from '../core/values.js';
import { ConfigurationError, isError, isPostreelError } from '../core/errors.js';
import type { MediaJob } from '../media/generate/media-job.js';
import {
  readJob,
  type AcknowledgingSource,
  type SourceItem,
} from '../media/queue/input/job-source.js';

/** What is used of a `PgBoss`, version 10 or 12. */
export interface PgBossClient {
  /** Takes jobs. */
  fetch(queue: string, options: { batchSize: number }): Promise<{ id: string; data: unknown }[]>;
  /** Ends a job well. */
  complete(queue: string, id: string, output: object): Promise<unknown>;
  /** Ends a try; the queue's `retryLimit` decides about another. */
  fail(queue: string, id: string, output: object): Promise<unknown>;
  /** Makes a queue unless it is there. */
  createQueue(queue: string): Promise<unknown>;
  /** Adds a job. */
  send(queue: string, data: object, options: { id: string }): Promise<unknown>;
  /** Renews the heartbeat of an active job; version 12 has it. */
  touch?(queue: string, id: string): Promise<unknown>;
  /** Its database: a job is handed back there, since each verb of its own counts a try. */
  getDb?(): {
    /** Runs one statement. */
    executeSql(text: string, values: unknown[]): Promise<unknown>;
  };
}

/** How the jobs of a pg-boss queue are made into media jobs. */
export interface PgBossOptions {
  /** Where jobs go that may have been submitted. @default the name of the queue and `-unknown` */
  unknown?: string | undefined;
  /** The media job in the data of a job. @default the data itself */
  jobOf?: ((data: never) => MediaJob) | undefined;
  /** The schema of pg-boss in its database. @default 'pgboss' */
  schema?: string | undefined;
}

const pgBossOptions: OptionKinds<PgBossOptions> = {
  unknown: text,
  jobOf: callback(),
  schema: {
    form: 'the name of a schema, such as `pgboss`',
    allows: (value) => typeof value === 'string' && /^[a-z_]\w*$/i.test(value),
  },
};

/**
 * A queue of pg-boss as the source of `media.queue()`. A job is completed once its file is stored;
 * one whose outcome is unknown goes to a second queue. A failed one is tried again as its
 * `retryLimit` says, and is followed where it was submitted. Give the queue an `expireInSeconds`
 * above the longest job; with version 12 also `heartbeatSeconds`, which is kept up.
 */
export function pgBossSource(
  boss: PgBossClient,
  queue: string,
  options?: PgBossOptions,
): AcknowledgingSource {
  checkBoss(boss);
  const {
    unknown = `${queue}-unknown`,
    jobOf,
    schema = 'pgboss',
  } = readOptions(options, pgBossOptions, {
    name: '`pgBossSource()`',
    example: "{ unknown: 'videos-unknown' }",
  });
  const read = jobOf ?? ((data: MediaJob) => data);
  const setAside = async ({ id, job }: SourceItem, output: object) => {
    await boss.createQueue(unknown);
    // First there, then gone here; a crash in between brings it again, and the id keeps it single.
    await boss.send(unknown, { id, job, ...output }, { id });
    await boss.complete(queue, id, output);
  };
  return {
    name: `pg-boss/${queue}`,
    async take(count) {
      const jobs = await boss.fetch(queue, { batchSize: count });
      return jobs.map(({ id, data }) => ({ id, ...readJob(read, data) }));
    },
    async done({ id }, { fileId }) {
      await boss.complete(queue, id, { fileId });
    },
    async fail(item, error, { outcome }) {
      const output = outputOf(error);
      await (outcome === 'unknown' ? setAside(item, output) : boss.fail(queue, item.id, output));
    },
    async release({ id }) {
      const db = boss.getDb?.();
      if (!db) {
        await boss.fail(queue, id, { message: 'The queue ended before this job did.' });
        return;
      }
      // As if it had never been started: pg-boss counts a try when it starts a job again.
      const update = `update ${schema}.job set state = 'created', started_on = null
        where name = $1 and id = $2 and state = 'active'`;
      await db.executeSql(update, [queue, id]);
    },
    async extend({ id }) {
      await boss.touch?.(queue, id);
    },
  };
}

function outputOf(error: unknown): { message: string; code: string | undefined } {
  const message = isError(error) ? error.message : 'The job failed.';
  return { message, code: isPostreelError(error) ? error.code : undefined };
}

function checkBoss(boss: unknown): void {
  // `createQueue` came with version 10.
  if (!isRecord(boss) || typeof boss['createQueue'] !== 'function') {
    throw new ConfigurationError(
      '`pgBossSource()` needs a started `PgBoss` of version 10 or later. Install `pg-boss` and pass `await boss.start()`.',
      { code: 'PG_BOSS_MISSING' },
    );
  }
}
