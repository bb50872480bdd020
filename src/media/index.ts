export type { Inbox, WebhookResult } from '../contract/inbox.js';
export { MediaClient } from './client.js';
export type { MediaJob } from './estimate.js';
export type { MediaEvents } from './events.js';
export { MediaFile, type DownloadOptions } from './file.js';
export type { Generate } from './generate/resource.js';
export type * from './generate/types.js';
export { GenerationJob, type JobRecord } from './job.js';
export {
  memoryJournal,
  type JobJournal,
  type JournalEntry,
  type JournalIntent,
  type PendingJobs,
} from './journal.js';
export type { MediaOptions, MediaRateLimitOptions } from './options.js';
export type { MediaPlan } from './plan.js';
export type {
  JobSource,
  MediaQueue,
  QueueOptions,
  QueueProgress,
  QueueResult,
} from './queue-options.js';
export type { FileResult } from './wait-for-files.js';
export type { FileUpdate, WaitOptions } from './wait-options.js';
export type { FileKind } from './pace.js';
