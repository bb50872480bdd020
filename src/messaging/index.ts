export { MessagingClient, type MessagingOptions } from './client.js';
export type { MessagingEvents } from './client.js';
export {
  clear,
  transient,
  type ContactData,
  type DataObject,
  type DataPatch,
  type DataRecord,
  type DataValue,
  type MessageData,
  type NoReservedKeys,
  type PersistentData,
  type ReadData,
  type ReservedKey,
  type StoredData,
  type Transient,
  type TypedData,
} from './shared/data.js';
export type * from './shared/filter.js';
export {
  evaluateFilter,
  matches,
  type FilterableContact,
  type FilterEvaluation,
  type FilterParts,
  type MatchOptions,
} from './shared/matches.js';
export type * from './shared/query.js';
export type { RowSource } from './shared/row-source.js';
export {
  and,
  filters,
  or,
  where,
  type AgeComparison,
  type AnyFields,
  type Comparisons,
  type EqualsComparison,
  type FilterBuilder,
  type FilterFields,
  type FilterMapping,
  type OrderComparison,
  type OtherComparison,
  type StandardFields,
} from './shared/where.js';
export type * from './activity/resource.js';
export type * from './activity/types.js';
export type * from './analytics/resource.js';
export type * from './analytics/types.js';
export type * from './auth/resource.js';
export type * from './auth/types.js';
export type { CampaignChange } from './campaigns/edit.js';
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
export {
  defineTemplate,
  type DefinedContent,
  type DefinedTemplate,
  type TemplateContent,
} from './templates/define-template.js';
export type * from './templates/resource.js';
export type * from './templates/template-data.js';
export type * from './templates/template-text.js';
export type * from './templates/types.js';
export type * from './uploads/resource.js';
export type * from './uploads/types.js';
export type * from './users/resource.js';
export type * from './users/types.js';
export type * from './workflows/code/definition.js';
export type { WorkflowDrift } from './workflows/code/compare.js';
export type { Deployment, DeployOptions, IncompleteDeployment } from './workflows/code/deploy.js';
export type {
  StepContent,
  TransitionEnds,
  WorkflowHead,
  WorkflowMapping,
} from './workflows/code/mapping.js';
export type { DeployOperation } from './workflows/code/plan.js';
export type { PulledWorkflow } from './workflows/code/pull.js';
export type {
  DeployedPart,
  PendingCreation,
  WorkflowState,
  WorkflowStateStore,
} from './workflows/code/state.js';
export type * from './workflows/executions.js';
export type * from './workflows/resource.js';
export type * from './workflows/steps.js';
export type * from './workflows/transitions.js';
export type * from './workflows/types.js';
