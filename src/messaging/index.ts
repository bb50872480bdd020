export * from '../core/public.js';
export { MessagingClient, type MessagingEvents, type MessagingOptions } from './client.js';

// Values that several resources share.
export {
  clear,
  transient,
  type ContactData,
  type DataPatch,
  type DataValue,
  type MessageData,
  type PersistentData,
  type StoredData,
  type Transient,
  type TypedData,
} from './shared/data.js';
export {
  and,
  filters,
  or,
  where,
  type BuiltFilter,
  type Comparisons,
  type Filter,
  type FilterBuilder,
  type FilterElement,
  type FilterGroup,
  type FilterInput,
  type FilterOperator,
  type FilterUnit,
  type StandardFilter,
  type StoredFilter,
} from './shared/filters.js';
export type { RowSource } from './shared/row-source.js';
export type { ListQuery, PeriodQuery } from './shared/values.js';

// The resources: the class and the types of each.
export type {
  Activity,
  ActivityCount,
  ActivityEntry,
  ActivityPeriod,
  ActivityQuery,
  ActivityStats,
  ActivityTypes,
  UpcomingActivity,
} from './activity.js';
export type {
  Analytics,
  AnalyticsQuery,
  CampaignBreakdown,
  Timeseries,
  TopCampaigns,
  TopEvents,
} from './analytics.js';
export type {
  AccountEmail,
  Auth,
  Credentials,
  EmailVerification,
  OAuthConfig,
  PasswordReset,
  SignedIn,
} from './auth.js';
export type {
  AudienceType,
  Campaign,
  CampaignContent,
  CampaignCreate,
  CampaignPreview,
  CampaignQuery,
  CampaignSend,
  CampaignStats,
  CampaignStatus,
  CampaignTest,
  CampaignToAll,
  CampaignToFiltered,
  CampaignToSegment,
  Campaigns,
  CreatedCampaign,
} from './campaigns.js';
export type { Config, ServiceConfig } from './config.js';
export type { ContactFields, Contacts } from './contacts.js';
export type {
  BulkAllOptions,
  BulkJob,
  BulkProgress,
  Contact,
  ContactCreate,
  ContactField,
  ContactLookup,
  ContactLookupResult,
  ContactQuery,
  ContactSelection,
  ContactUpdate,
  FieldDrift,
  FieldInventory,
  FieldTypes,
  FieldUsage,
  FieldValues,
  ImportAllOptions,
  ImportJob,
  ImportRow,
  ImportRows,
  JobReport,
  JobStarted,
  UpsertMeta,
  UpsertedContact,
} from './contacts.types.js';
export type { Domain, DomainCreate, DomainQuery, DomainVerification, Domains } from './domains.js';
export type {
  Address,
  AddressVerification,
  Attachment,
  ContentSend,
  NamedAddress,
  Recipients,
  SendRequest,
  SendResult,
  SentEmail,
  TemplateSend,
  VerifiedAddress,
  VerifyRequest,
} from './emails.js';
export type {
  EachMessage,
  EachRecipient,
  EachRecipientMail,
  EachResult,
  SendEachOptions,
  SendEachReport,
} from './emails/send-each.js';
export type {
  EventNames,
  EventQuery,
  EventStats,
  EventStatsQuery,
  EventUsage,
  Events,
  TrackRequest,
  TrackResult,
  TrackedEvent,
} from './events.js';
export type {
  BillingConsumption,
  BillingLimits,
  BillingPortal,
  BillingPortalCreate,
  CheckoutCreate,
  CheckoutSession,
  Invoice,
  InvoiceQuery,
  Member,
  MemberInvite,
  MemberQuery,
  MemberRoleUpdate,
  Project,
  ProjectBilling,
  ProjectCreate,
  ProjectKeys,
  ProjectMembers,
  ProjectQuery,
  ProjectReset,
  ProjectSecurityReport,
  ProjectSecurityState,
  ProjectSetupState,
  ProjectUpdate,
  Projects,
  RegenerateOptions,
} from './projects.js';
export type {
  CountedSegment,
  DynamicSegmentCreate,
  Segment,
  SegmentComputation,
  SegmentCreate,
  SegmentMember,
  SegmentMemberQuery,
  SegmentMembers,
  SegmentMembersAdd,
  SegmentMembersChange,
  SegmentMembersRemove,
  SegmentRefresh,
  SegmentUpdate,
  Segments,
  StaticSegmentCreate,
} from './segments.js';
export type {
  DuplicatedTemplate,
  Template,
  TemplateCreate,
  TemplateQuery,
  TemplateType,
  TemplateUpdate,
  TemplateUsage,
  Templates,
} from './templates.js';
export type { ImageInput, UploadedImage, Uploads } from './uploads.js';
export type { User, Users } from './users.js';
export type {
  WorkflowExecutions,
  WorkflowSteps,
  WorkflowTransitions,
  Workflows,
} from './workflows.js';
export type {
  ExecutionContext,
  ExecutionQuery,
  ExecutionStart,
  StepConfig,
  StepCreate,
  StepDelete,
  StepType,
  StepUpdate,
  TransitionBranch,
  TransitionCreate,
  Workflow,
  WorkflowCreate,
  WorkflowDeleteOptions,
  WorkflowExecution,
  WorkflowFields,
  WorkflowGraph,
  WorkflowQuery,
  WorkflowStep,
  WorkflowTransition,
  WorkflowUpdate,
} from './workflows.types.js';

// Templates as code.
export {
  defineTemplate,
  type DefinedContent,
  type DefinedTemplate,
  type TemplateContent,
  type TemplateData,
  type TemplateValue,
} from './templates/define-template.js';
export type {
  RenderedTemplate,
  TemplateVariable,
  TemplateVariables,
} from './shared/template-text.js';

// Workflows as code.
export {
  defineWorkflow,
  type ConditionStep,
  type DelayStep,
  type ExitStep,
  type SendEmailStep,
  type Span,
  type StepDefinition,
  type UpdateContactStep,
  type WaitForEventStep,
  type WebhookStep,
  type WorkflowDefinition,
} from './workflows/definition.js';
export type {
  Deployment,
  DeployOperation,
  DeployOptions,
  FailedDeployment,
  KeptWorkflow,
  ReplacedWorkflow,
} from './workflows/deploy.js';
export { toMermaid, type MermaidOptions } from './workflows/mermaid.js';
