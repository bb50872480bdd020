export type { Inbox, WebhookResult } from '../core/types.js';
export { MediaClient } from './client.js';
export type { MediaJob } from './generate/media-job.js';
export type { JobAcceptedEvent, MediaEvents } from './events.js';
export type { TransferOptions, TransferProgress } from './download/transfer-options.js';
export { MediaFile, type DownloadOptions, type FileSource } from './jobs/file.js';
export { LongAudioError } from './generate/long-audio/error.js';
export type { Generate, GenerateOptions } from './generate/resource.js';
export type * from './generate/types.js';
export { GenerationJob, type JobRecord } from './jobs/job.js';
export type { JobRecords } from './jobs/records.js';
export { memoryJournal } from '../core/journal.js';
export type { JournalItem, JournalPage, JournalStore } from '../core/journal.js';
export type { PendingJobs, UnknownCall } from './jobs/ledger.js';
export type { MediaOptions, MediaRateLimitOptions } from './options.js';
export type {
  JobSource,
  MediaQueue,
  QueueOptions,
  QueueProgress,
  QueueResult,
  SavedJob,
} from './queue/options.js';
export type { FileResult } from './status/wait-for-files.js';
export type { FileUpdate, WaitOptions } from './status/wait-options.js';
export type { FileKind } from './status/intervals.js';
