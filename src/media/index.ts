export { MediaClient, type MediaOptions } from './client.js';
export type { MediaEvents } from './events.js';
export { MediaFile } from './file.js';
export type * from './generate/resource.js';
export type * from './generate/types.js';
export { GenerationJob, type JobRecord } from './job.js';
export type { FileKind } from './pace.js';
export type { FileUpdate, WaitOptions } from './wait-options.js';
