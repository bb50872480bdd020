export * from '../core/public.js';
export { MediaClient } from './client.js';
export type { JobAcceptedEvent, MediaEvents } from './events.js';
export type { MediaOptions, MediaRateLimitOptions } from './options.js';

// Generating.
export { LongAudioError } from './generate/long-audio/error.js';
export type { JoinOptions } from './generate/long-audio/join.js';
export type { MediaJob } from './generate/media-job.js';
export type { Generate, GenerateOptions } from './generate/resource.js';
export type * from './generate/types.js';
export { GenerationJob, type JobRecord } from './jobs/job.js';

// Waiting.
export type { Inbox, WebhookResult } from '../core/types.js';
export type { FileKind } from './status/intervals.js';
export type { FileResult } from './status/wait-for-files.js';
export type { FileUpdate, WaitOptions } from './status/wait-options.js';

// Finished files.
export type { FileStream, NodeCompatible } from './download/file-stream.js';
export type { TransferOptions, TransferProgress } from './download/transfer-options.js';
export { MediaFile, type DownloadOptions } from './jobs/file.js';

// The journal.
export type { JobRecords } from './jobs/records.js';
export type { AwaitedCall, PendingJobs, UnknownCall } from './jobs/ledger.js';

// Many jobs.
export type {
  JobSource,
  MediaQueue,
  QueueOptions,
  QueueProgress,
  QueueResult,
  SavedJob,
} from './queue/options.js';
