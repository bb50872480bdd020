import { openConnection, type MediaConnection } from './connection.js';
import { Generate } from './generate/resource.js';
import { JobMemory } from './jobs/job.js';
import { JobLedger } from './jobs/ledger.js';
import { MediaNotices } from './notices.js';
import type { MediaOptions } from './options.js';
import type { QueueParts } from './queue/queue.js';
import { FileWaits } from './status/file-waits.js';
import { StatusPoller } from './status/poller.js';
import { OnceJobs } from './submit/once.js';
import { ClientSlots } from './submit/slots.js';
import { Submitter } from './submit/submitter.js';

/** The parts of a media client. */
export interface MediaContext extends QueueParts {
  readonly connection: MediaConnection;
  readonly waits: FileWaits;
}

/** Creates the parts of a media client. Each part gets the parts above it that it uses. */
export function createContext(options: MediaOptions): MediaContext {
  const connection = openConnection(options);
  const { keys, settings } = connection;
  const notices = new MediaNotices(connection);
  const ledger = keys && new JobLedger(keys);
  const memory = new JobMemory(settings.clock);
  const slots = new ClientSlots(connection, notices);
  const poller = new StatusPoller(connection, slots, notices);
  const waits = new FileWaits({ connection, ledger, memory, notices, poller, slots });
  const submitter = new Submitter({ connection, ledger, memory, notices, poller, slots });
  const once =
    keys && ledger && new OnceJobs({ connection, keys, ledger, notices, slots, submitter });
  const jobs = { ledger, once, slots, submitter };
  const generate = new Generate({ ...jobs, connection, notices, poller, waits });
  return { connection, generate, ledger, notices, slots, submitter, waits };
}
