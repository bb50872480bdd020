import type { World } from '../core/types.js';
import type { MessagingSettings } from './settings.js';

/** The scope of a messaging handler's request. */
export interface Scope {
  readonly world: MessagingWorld;
  /** The project that the key names, or that the path names for a session. */
  readonly project: Project;
  /** The signed-in user; for calls with a secret key, the owner of the project. */
  readonly user?: User;
}

/** The whole state of the fake messaging service. */
export interface MessagingWorld extends World {
  /** A new API key. */
  key(prefix: 'sk' | 'pk'): string;
  readonly settings: MessagingSettings;
  readonly projects: Map<string, Project>;
  readonly users: Map<string, User>;
  /** Session tokens by user id. */
  readonly sessions: Map<string, string>;
  /** Every email of every project, oldest first. */
  readonly outbox: SentEmail[];
  readonly mailedTokens: MailedToken[];
  /** Called with every recorded event; workflows listen here. */
  readonly listeners: ((scope: Scope, contact: Contact, event: TrackedEvent) => void)[];
}

/** A project with everything in it; maps are by id. */
export interface Project {
  readonly id: string;
  name: string;
  secretKey: string;
  publicKey: string;
  /** A disabled project responds to every request with a 403. */
  isDisabled: boolean;
  readonly settings: Record<string, unknown>;
  readonly createdAt: string;
  readonly members: Member[];
  readonly billingLimits: Record<string, unknown>;
  readonly contacts: Map<string, Contact>;
  /** Contact ids by lower-case email: email is unique within a project. */
  readonly contactIds: Map<string, string>;
  /** Types of custom fields by key, fixed at the first non-null value. */
  readonly fieldTypes: Map<string, FieldType>;
  readonly templates: Map<string, Template>;
  readonly campaigns: Map<string, Campaign>;
  readonly segments: Map<string, Segment>;
  readonly workflows: Map<string, Workflow>;
  readonly domains: Map<string, Domain>;
  readonly jobs: Map<string, Job>;
  readonly uploads: Map<string, UploadedImage>;
  /** Oldest first, like `activity` and `outbox`. */
  readonly events: TrackedEvent[];
  readonly activity: ActivityEntry[];
  readonly outbox: SentEmail[];
  /** Domains whose DNS records are set: `project.dns.add('mail.shop.test')` lets a check verify it. */
  readonly dns: Set<string>;
  /** The calls of workflows' WEBHOOK steps, oldest first. */
  readonly webhooks: WebhookCall[];
}

/** A contact of the fake. */
export interface Contact {
  readonly id: string;
  email: string;
  subscribed: boolean;
  readonly data: Record<string, unknown>;
  readonly createdAt: string;
  updatedAt: string;
}

/** The type of a custom field. */
export type FieldType = 'string' | 'number' | 'boolean' | 'date';

/** An email that the fake has sent, as the recipient would see it. */
export interface SentEmail {
  readonly id: string;
  readonly projectId: string;
  readonly contactId: string;
  readonly to: string;
  readonly toName?: string;
  readonly from: string;
  readonly fromName?: string;
  readonly replyTo?: string;
  readonly subject: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments: readonly unknown[];
  readonly variables: Readonly<Record<string, unknown>>;
  readonly source: 'send' | 'campaign' | 'workflow' | 'test';
  /** The template, campaign or workflow that it came from. */
  readonly sourceId?: string;
  readonly sentAt: string;
  /** Nobody reads the fake's emails: set these four fields to simulate opens, clicks, bounces and complaints. */
  openedAt?: string;
  clickedAt?: string;
  bouncedAt?: string;
  complainedAt?: string;
}

/** An event that was tracked. */
export interface TrackedEvent {
  readonly id: string;
  readonly contactId: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
}

/** A job that works through many contacts, e.g. an import. */
export interface Job {
  readonly id: string;
  readonly type: 'import' | 'bulk-subscribe' | 'bulk-unsubscribe' | 'bulk-delete';
  state: 'waiting' | 'active' | 'done' | 'failed';
  readonly total: number;
  processed: number;
  readonly counts: Record<string, number>;
  /** The rows that could not be handled, as the job reports them. */
  readonly errors: Record<string, unknown>[];
  failedReason?: string;
  readonly createdAt: string;
  finishedAt?: string;
}

/** An image that was uploaded. */
export interface UploadedImage {
  readonly id: string;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly url: string;
}

/** A person who can sign in. */
export interface User {
  readonly id: string;
  email: string;
  /** In plain text, because a fake has nothing to protect. */
  password: string;
  isVerified: boolean;
  readonly createdAt: string;
}

/** A person who belongs to a project. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  role: string;
}

/** A token that a real service would have sent by email. */
export interface MailedToken {
  readonly token: string;
  readonly purpose: 'verify-email' | 'reset-password';
  readonly userId: string;
  readonly email: string;
  isUsed: boolean;
}

/** An email template of the fake. */
export interface Template {
  readonly id: string;
  name: string;
  subject: string;
  body: string;
  type: string;
  from?: string;
  fromName?: string;
  replyTo?: string;
  readonly createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

/** A campaign of the fake. */
export interface Campaign {
  readonly id: string;
  name: string;
  description?: string;
  subject: string;
  body: string;
  from: string;
  fromName?: string;
  replyTo?: string;
  audienceType: string;
  segmentId?: string;
  audienceFilter?: unknown;
  status: string;
  scheduledAt: string | null;
  readonly createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

/** A segment of the fake. */
export interface Segment {
  readonly id: string;
  type: string;
  name: string;
  description?: string;
  condition?: unknown;
  trackMembership: boolean;
  /** The cached count. */
  memberCount: number;
  /** Contact ids: all members of a static segment, the members at the last compute of a tracked one. */
  readonly members: Set<string>;
  readonly createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

/** A workflow of the fake. */
export interface Workflow {
  readonly id: string;
  name: string;
  description?: string;
  triggerType: string;
  triggerConfig: Record<string, unknown>;
  enabled: boolean;
  allowReentry: boolean;
  readonly steps: Map<string, WorkflowStep>;
  readonly transitions: Map<string, WorkflowTransition>;
  readonly executions: Map<string, WorkflowExecution>;
  readonly createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

/** A step of a workflow. */
export interface WorkflowStep {
  readonly id: string;
  readonly type: string;
  name?: string;
  config: Record<string, unknown>;
  [field: string]: unknown;
}

/** A transition from one step of a workflow to another. */
export interface WorkflowTransition {
  readonly id: string;
  fromStepId: string;
  toStepId: string;
  branch?: string;
  [field: string]: unknown;
}

/** One contact's run through a workflow. */
export interface WorkflowExecution {
  readonly id: string;
  readonly workflowId: string;
  readonly contactId: string;
  status: string;
  currentStepId?: string;
  readonly context: Record<string, unknown>;
  readonly startedAt: string;
  endedAt?: string;
  [field: string]: unknown;
}

/** A call that a WEBHOOK step has made. */
export interface WebhookCall {
  readonly workflowId: string;
  readonly executionId: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly at: string;
  /** The status of the response; absent while it is pending, and if none came. */
  status?: number;
}

/** A sender domain of the fake. */
export interface Domain {
  readonly id: string;
  readonly projectId: string;
  readonly domain: string;
  /** `pending` or `verified`. */
  status: string;
  readonly createdAt: string;
  verifiedAt?: string;
  [field: string]: unknown;
}

/** One line of the activity feed. */
export interface ActivityEntry {
  readonly id: string;
  readonly type: string;
  readonly contactId?: string;
  readonly createdAt: string;
  readonly [field: string]: unknown;
}
