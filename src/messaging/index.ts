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
export type {
  BuiltFilter,
  Filter,
  FilterElement,
  FilterGroup,
  FilterInput,
  FilterOperator,
  FilterUnit,
  StandardFilter,
  StoredFilter,
} from './shared/filter.js';
export type { ListQuery, PeriodQuery } from './shared/query.js';
export type { RowSource } from './shared/row-source.js';
export { and, filters, or, where, type Comparisons, type FilterBuilder } from './shared/where.js';

// One resource a line or two: its class and its types.
export type * from './activity/resource.js';
export type * from './activity/types.js';
export type * from './analytics/resource.js';
export type * from './analytics/types.js';
export type * from './auth/resource.js';
export type * from './auth/types.js';
export type * from './campaigns/resource.js';
export type * from './campaigns/types.js';
export type * from './config/resource.js';
export type * from './config/types.js';
export type * from './contacts/fields.js';
export type * from './contacts/resource.js';
export type * from './contacts/types.js';
export type * from './domains/resource.js';
export type * from './domains/types.js';
export type * from './emails/each-types.js';
export type * from './emails/types.js';
export type * from './events/resource.js';
export type * from './events/types.js';
export type * from './projects/billing.js';
export type * from './projects/members.js';
export type * from './projects/resource.js';
export type * from './projects/types.js';
export type * from './segments/members.js';
export type * from './segments/resource.js';
export type * from './segments/types.js';
export type * from './templates/resource.js';
export type * from './templates/types.js';
export type * from './uploads/resource.js';
export type * from './uploads/types.js';
export type * from './users/resource.js';
export type * from './users/types.js';
export type * from './workflows/resource.js';
export type * from './workflows/types.js';

// Templates as code.
export {
  defineTemplate,
  type DefinedContent,
  type DefinedTemplate,
  type TemplateContent,
} from './templates/define-template.js';
export type { TemplateData, TemplateValue } from './templates/template-data.js';
export type {
  RenderedTemplate,
  TemplateVariable,
  TemplateVariables,
} from './templates/template-text.js';

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
