export { defineWorkflow } from '../messaging/workflows/code/check.js';
export type {
  ConditionStep,
  DelayStep,
  ExitStep,
  SendEmailStep,
  Span,
  StepDefinition,
  UpdateContactStep,
  WaitForEventStep,
  WebhookStep,
  WorkflowDefinition,
} from '../messaging/workflows/code/definition.js';
export {
  defaultWorkflowMapping,
  type StepContent,
  type TransitionEnds,
  type WorkflowHead,
  type WorkflowMapping,
} from '../messaging/workflows/code/mapping.js';
export { toMermaid, type MermaidOptions } from '../messaging/workflows/code/mermaid.js';
export type { ObservedEmail } from '../messaging/workflows/code/simulation/observed.js';
export {
  simulate,
  type SimulatedContact,
  type SimulatedEmail,
  type SimulatedEvent,
  type SimulatedRun,
  type SimulateOptions,
  type Simulation,
} from '../messaging/workflows/code/simulation/simulate.js';
export {
  memoryWorkflowState,
  type DeployedPart,
  type PendingCreation,
  type WorkflowState,
  type WorkflowStateStore,
} from '../messaging/workflows/code/state.js';
