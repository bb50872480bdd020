import { markPattern, type WorkflowDefinition } from './definition.js';
import { eventOf } from './content.js';
import type { Workflow } from '../workflows.js';

/** A workflow that was deployed from a definition of this name, as its own name says. */
export interface Version {
  readonly id: string;
  readonly name: string;
  readonly mark: string;
  /** `draft`: its graph is not whole. `switching`: it is about to be enabled, or to get its final name. */
  readonly state: 'draft' | 'switching' | 'whole';
  /** One that does not show whether it is on may be on. */
  readonly isOn: boolean;
}

/** All that a deployment has to do with. */
export interface Found {
  /** In the order of their ids. */
  readonly versions: readonly Version[];
  /** Workflows of the same name and event without a mark. */
  readonly unmarked: readonly Workflow[];
  /** The workflow that `replaces` names. */
  readonly replaced: Workflow | undefined;
}

/** A workflow that is on, and whose place another one takes. */
export interface Running {
  readonly id: string;
  readonly name: string | undefined;
}

/** The name of a version: `Welcome · 3f2a9c`. */
export function versionName(name: string, mark: string, state?: string): string {
  return `${name} · ${mark}${state === undefined ? '' : ` (${state})`}`;
}

/** Sorts a project's workflows by what they are to a definition. */
export function sortWorkflows(
  workflows: readonly Workflow[],
  { name, trigger }: WorkflowDefinition,
  replaced: Workflow | undefined,
): Found {
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
  return { versions: versions.sort(byId), unmarked, replaced };
}

/** The workflow that a deployment must not touch. One that is off beside a version of ours was replaced. */
export function foreignIn({ versions, unmarked }: Found): Workflow | undefined {
  const hasVersion = versions.some(({ state }) => state !== 'draft');
  return unmarked.find(({ enabled }) => !hasVersion || enabled !== false);
}

/** The version with this mark: the one that is on, or else the first one. */
export function versionWith(mark: string, versions: readonly Version[]): Version | undefined {
  const same = versions.filter((version) => version.mark === mark && version.state !== 'draft');
  return same.find(({ isOn }) => isOn) ?? same[0];
}

/** The version whose switch an earlier deployment did not finish. */
export function cutSwitchIn(versions: readonly Version[]): Version | undefined {
  return versions.find(({ state }) => state === 'switching');
}

/** What is on beside a version: what its switch disables. */
export function runningBeside(id: string | undefined, { versions, replaced }: Found): Running[] {
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

function byId({ id: one }: Version, { id: other }: Version): number {
  return one < other ? -1 : 1;
}
