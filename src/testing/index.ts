// Comments in this folder cite sections of the service's documents ("messaging, Errors"). "(not shown)" marks
// behavior that the document does not show: there the fake does what services of this kind usually do.

import type { FakeServer, FakeServerOptions } from './server.js';

export type { JournalItem, JournalPage, JournalStore } from '../core/once/journal.js';
export { createClock, type Clock, type ClockOptions } from './core/clock.js';
export type { Duration } from './core/clock.js';
export type { Fault, Faults } from './core/faults.js';
export type { RateLimitOptions } from './core/rate-limit.js';
export type { RecordedRequest } from './core/types.js';
export type { Task } from './core/clock.js';
export type { FakeClientOptions, Service } from './core/service.js';
export type { EndpointName } from './endpoint-names.js';
export { testJournal, type TestJournalOptions } from './test-journal.js';
export { createFakeMedia, type FakeMedia } from './media/create.js';
export type { FakeMediaOptions } from './media/settings.js';
export type { Job } from './media/jobs.js';
export type {
  BrandKit,
  CallbackAttempt,
  FileStatus,
  MediaFile,
  MediaFolder,
  Outcome,
} from './media/types.js';
export {
  createFakeMessaging,
  type FakeMessaging,
  type FakeMessagingOptions,
} from './messaging/create.js';
export type { Seeded, SeedPlan } from './messaging/seed.js';
export type { JobSettings, MessagingSettings, SettingsOptions } from './messaging/settings.js';
export type {
  Scope,
  MessagingWorld,
  Project,
  Contact,
  FieldType,
  Job as ContactJob,
  SentEmail,
  TrackedEvent,
  UploadedImage,
  User,
  Member,
  MailedToken,
  Template,
  Campaign,
  Segment,
  Workflow,
  WorkflowStep,
  WorkflowTransition,
  WorkflowExecution,
  WebhookCall,
  Domain,
  ActivityEntry,
} from './messaging/state.js';
export { mediaBehaviors, type MediaBehavior } from './media/settings.js';
export { messagingBehaviors, type MessagingBehavior } from './messaging/settings.js';
export type { BehaviorOf, Setting, Table, Value } from './core/settings.js';
export type { Ids, IdStyle } from './core/ids.js';
export type { MswHandler } from './msw.js';
export type { FakeServer, FakeServerOptions } from './server.js';

/** Starts both fakes on a real socket (Node only): for other processes, browsers and connection faults. */
export async function startFakeServer(options?: FakeServerOptions): Promise<FakeServer> {
  const server = await import('./server.js');
  return server.startFakeServer(options);
}
