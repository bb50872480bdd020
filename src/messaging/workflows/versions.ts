import { markPattern, type WorkflowDefinition } from './definition.js';
import { eventOf } from './content.js';
import type { Workflow } from '../workflows.types.js';

/** A workflow whose name shows that it was deployed from a definition of this name. */
export interface Version {
  readonly id: string;
  readonly name: string;
  readonly mark: string;
  /** `draft`: its graph is incomplete. `switching`: it is about to be enabled, or to get its final name. */
  readonly state: 'draft' | 'switching' | 'whole';
  /** Also true if the response does not show whether the workflow is on: it may be. */
  readonly isOn: boolean;
}

/** The workflows of the project that concern a deployment. */
export interface FoundWorkflows {
  /** The versions of the definition, sorted by id. */
  readonly versions: readonly Version[];
  /** Workflows of the same name and event without a mark. */
  readonly unmarked: readonly Workflow[];
  /** The workflow that `replaces` names. */
  readonly replaced: Workflow | undefined;
}

/** A workflow that is on and that the deployment replaces. */
export interface RunningWorkflow {
  readonly id: string;
  readonly name: string | undefined;
}

/** Makes the name of a version: `Welcome · 3f2a9c`. */
export function versionName(name: string, mark: string, state?: string): string {
  return `${name} · ${mark}${state === undefined ? '' : ` (${state})`}`;
}

/** Finds the workflows of a project that concern a definition: its versions, and unmarked ones of its name. */
export function sortWorkflows(
  workflows: readonly Workflow[],
  { name, trigger }: WorkflowDefinition,
  replaced: Workflow | undefined,
): FoundWorkflows {
  const versions: Version[] = [];
  const unmarked: Workflow[] = [];
  for (const workflow of workflows) {
    const version = versionOf(workflow, name);
    if (version) {
      versions.push(version);
    } else if (nameOf(workflow) === name && workflow.id !== replaced?.id) {
      const event = eventOf(workflow);
      unmarked.push(...(event === undefined || event === trigger.event ? [workflow] : []));
    }
  }
  return { versions: versions.sort(compareIds), unmarked, replaced };
}

/**
 * Returns the workflow that stops a deployment, because it was not deployed from a definition. A disabled one next
 * to a version of this definition does not count: an earlier deployment has replaced it.
 */
export function findForeign({ versions, unmarked }: FoundWorkflows): Workflow | undefined {
  const hasVersion = versions.some(({ state }) => state !== 'draft');
  return unmarked.find(({ enabled }) => !hasVersion || enabled !== false);
}

/** Returns the version with this mark: the one that is on, or else the first one. */
export function findVersion(mark: string, versions: readonly Version[]): Version | undefined {
  const same = versions.filter((version) => version.mark === mark && version.state !== 'draft');
  return same.find(({ isOn }) => isOn) ?? same[0];
}

/** Returns the version whose switch an earlier deployment did not finish. */
export function findInterruptedSwitch(versions: readonly Version[]): Version | undefined {
  return versions.find(({ state }) => state === 'switching');
}

/** Returns the workflows other than this version that are on: the switch to the version disables them. */
export function findOtherRunning(
  id: string | undefined,
  { versions, replaced }: FoundWorkflows,
): RunningWorkflow[] {
  const ours = versions.filter((version) => version.isOn && version.id !== id);
  const isNamed = replaced !== undefined && !versions.some((version) => version.id === replaced.id);
  const foreign = isNamed && replaced.enabled !== false && replaced.id !== id ? [replaced] : [];
  return [...ours, ...foreign].map((one) => ({ id: one.id, name: nameOf(one) }));
}

function versionOf({ enabled, ...workflow }: Workflow, name: string): Version | undefined {
  const full = nameOf(workflow) ?? '';
  const [ending, mark, state = 'whole'] = markPattern.exec(full) ?? [];
  if (ending === undefined || mark === undefined || full !== name + ending) {
    return undefined;
  }
  const known = state.startsWith('draft') ? 'draft' : state === 'switching' ? state : 'whole';
  return { id: workflow.id, name: full, mark, state: known, isOn: enabled !== false };
}

function nameOf(workflow: object): string | undefined {
  const name: unknown = 'name' in workflow ? workflow.name : undefined;
  return typeof name === 'string' ? name : undefined;
}

function compareIds({ id: one }: Version, { id: other }: Version): number {
  return one < other ? -1 : 1;
}
