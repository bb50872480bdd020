import type { WorkflowStep, WorkflowTransition } from '../types.js';
import {
  contains,
  differences,
  fieldOf,
  fieldsOf,
  isSame,
  jsonOf,
  overlaid,
  pick,
  type Fields,
} from './content.js';
import type { WorkflowDefinition } from './definition.js';
import { edgeName, edgesOf, stepsOf } from './graph.js';
import { notUnderstood, type LiveGraph } from './live.js';
import type { WorkflowMapping } from './mapping.js';
import { headBody, stepBody, transitionBody } from './plan.js';
import type { DeployedPart, WorkflowState } from './state.js';

/** A difference between the last deployment and now. */
export interface WorkflowDrift {
  /** Who has changed it since: your definition, the live workflow, or both of them. */
  readonly by: 'ours' | 'theirs' | 'both';
  readonly change: 'added' | 'changed' | 'deleted';
  readonly part: 'workflow' | 'step' | 'transition';
  /** The key of the step or the name of the transition; the id of what is not in the definition. */
  readonly key: string;
  /** The fields that differ, where a part was changed: `name`, `config.duration`. */
  readonly fields: readonly string[];
}

/** A live workflow held against its last deployment and its definition. */
export interface Comparison {
  readonly drift: readonly WorkflowDrift[];
  /** What would be written although the service does not show what is there now. */
  readonly hidden: readonly string[];
  /** The state as if all that is live had been deployed: what to plan from. */
  readonly state: WorkflowState;
  readonly isEnabled: boolean;
}

/** Holds a live workflow against its last deployment and its definition. Pure. */
export function compare(
  definition: WorkflowDefinition,
  state: WorkflowState,
  live: LiveGraph,
  mapping: WorkflowMapping,
): Comparison {
  return new Comparing(definition, state, live, mapping).all();
}

class Comparing {
  readonly #definition: WorkflowDefinition;
  readonly #state: WorkflowState;
  readonly #live: LiveGraph;
  readonly #mapping: WorkflowMapping;
  readonly #unsure: NonNullable<WorkflowState['unsure']>;
  readonly #drift: WorkflowDrift[] = [];
  readonly #hidden: string[] = [];

  constructor(
    definition: WorkflowDefinition,
    state: WorkflowState,
    live: LiveGraph,
    mapping: WorkflowMapping,
  ) {
    this.#definition = definition;
    this.#state = state;
    this.#live = live;
    this.#mapping = mapping;
    this.#unsure = state.unsure ?? {};
  }

  all(): Comparison {
    const isEnabled = enabledOf(this.#live, this.#mapping);
    const workflow = this.#note('workflow', this.#live.id, this.#head(isEnabled));
    const steps = this.#steps();
    const transitions = this.#transitions({ ...this.#state, steps });
    const state = { ...this.#state, workflow, steps, transitions, unsure: undefined };
    return { drift: this.#drift, hidden: this.#hidden, state, isEnabled };
  }

  #head(isEnabled: boolean): Found {
    const { workflow, enabled } = this.#state;
    const body = headBody(this.#definition, this.#mapping);
    const found = workflow
      ? comparePart(workflow, body, this.#live, this.#unsure[this.#live.id])
      : compareUnknown(body, this.#live);
    const wanted = this.#definition.enabled ?? isEnabled;
    const before = workflow ? enabled : wanted;
    if (before === undefined || before === isEnabled || wanted === isEnabled) {
      return found;
    }
    const by = byOf(found.by === 'ours' || found.by === 'both', true);
    return { ...found, by, fields: [...found.fields, 'enabled'] };
  }

  #steps(): WorkflowState['steps'] {
    const { steps } = this.#live;
    const result = new Map<string, DeployedPart | undefined>();
    const wanted = new Map(
      stepsOf(this.#definition).map(([key]) => [
        key,
        stepBody(this.#definition, key, this.#mapping),
      ]),
    );
    for (const [key, deployed] of Object.entries(this.#state.steps)) {
      const record = steps.find(({ id }) => id === deployed.id);
      const found = comparePart(deployed, wanted.get(key), record, this.#unsure[deployed.id]);
      result.set(key, this.#note('step', key, found));
    }
    const strange = strangers(steps, this.#state.steps);
    for (const [key, body] of wanted) {
      if (result.get(key) === undefined) {
        const record = takeLike(strange, body);
        result.set(key, this.#note('step', key, compareUnknown(body, record)));
      }
    }
    for (const record of strange) {
      result.set(`live:${record.id}`, this.#note('step', record.id, added(record)));
    }
    return existing(result);
  }

  #transitions(state: WorkflowState): WorkflowState['transitions'] {
    const { transitions } = this.#live;
    const result = new Map<string, DeployedPart | undefined>();
    const edges = new Map(edgesOf(this.#definition).map((edge) => [edgeName(edge), edge]));
    const bodyOf = (name: string) => {
      const edge = edges.get(name);
      return edge && transitionBody(this.#definition, edge, state, this.#mapping);
    };
    for (const [name, deployed] of Object.entries(this.#state.transitions)) {
      const record = transitions.find(({ id }) => id === deployed.id);
      const written = edges.has(name) ? fieldsOf(deployed.body) : undefined;
      const unsure = this.#unsure[deployed.id];
      const found = comparePart(deployed, bodyOf(name) ?? written, record, unsure);
      // A transition cannot be changed: what others have put there is replaced.
      const isReplaced = found.by === 'theirs' || found.by === 'both';
      const kept = this.#note('transition', name, { ...found, hidden: [] });
      result.set(isReplaced ? `live:${deployed.id}` : name, kept);
    }
    const strange = strangers(transitions, this.#state.transitions);
    for (const name of edges.keys()) {
      if (result.get(name) === undefined) {
        const found = compareTransition(bodyOf(name), strange, this.#mapping);
        result.set(name, this.#note('transition', name, found));
      }
    }
    for (const record of strange) {
      result.set(`live:${record.id}`, this.#note('transition', record.id, added(record)));
    }
    return existing(result);
  }

  #note(part: WorkflowDrift['part'], key: string, found: Found): DeployedPart | undefined {
    const { by, change, fields, hidden, deployed } = found;
    this.#hidden.push(...hidden.map((name) => `\`${name}\` of ${partName(part, key)}`));
    if (by !== undefined) {
      this.#drift.push({ part, key, by, change, fields });
    }
    return deployed;
  }
}

/** The fields of a record that a body has too, as JSON. */
export function shown(record: object, body: object): string {
  return jsonOf(pick(record, Object.keys(body)));
}

/** A part as an error names it. */
export function partName(part: WorkflowDrift['part'], key: string): string {
  return `${part} ${key.startsWith('[') ? key : JSON.stringify(key)}`;
}

/** Is this transition one from and to these steps, with everything that was sent for it? */
export function isLikeTransition(
  record: WorkflowTransition,
  wanted: Fields,
  mapping: WorkflowMapping,
): boolean {
  const ends = mapping.readTransition(record);
  const sent = ends === undefined ? {} : mapping.transition(ends);
  return contains(overlaid(record, sent), fieldsOf(jsonOf(wanted)));
}

/** What a comparison of one part has found. */
interface Found {
  readonly by: WorkflowDrift['by'] | undefined;
  readonly change: WorkflowDrift['change'];
  readonly fields: readonly string[];
  readonly hidden: readonly string[];
  readonly deployed: DeployedPart | undefined;
}

const unchanged = { by: undefined, change: 'changed', fields: [], hidden: [] } as const;

function comparePart(
  deployed: DeployedPart,
  wanted: object | undefined,
  record: object | undefined,
  unsure: readonly (string | null)[] = [],
): Found {
  const { id } = deployed;
  const written = fieldsOf(deployed.body);
  const isOurs = wanted === undefined || !isSame(wanted, written);
  if (record === undefined) {
    const isTheirs = wanted !== undefined && !unsure.includes(null);
    const by = byOf(isOurs && isTheirs, isTheirs);
    return { ...unchanged, by, change: 'deleted', deployed: undefined };
  }
  const names = [...Object.keys(written), ...Object.keys(wanted ?? {})];
  const live = pick(record, names);
  if (wanted !== undefined && isSame(pick(live, Object.keys(wanted)), wanted)) {
    return { ...unchanged, deployed: { id, body: jsonOf(wanted), live: jsonOf(live) } };
  }
  const isShown = (name: string) => Object.hasOwn(live, name);
  const change = wanted === undefined ? 'deleted' : 'changed';
  const hidden = changedNames(written, wanted).filter(
    (name) => Object.hasOwn(written, name) && !isShown(name),
  );
  const happened = unsure
    .filter((body) => body !== null)
    .find((body) => contains(live, fieldsOf(body)));
  if (happened !== undefined) {
    const body = { ...written, ...fieldsOf(happened) };
    const by = byOf(wanted === undefined || !isSame(wanted, body), false);
    const found = { id, body: jsonOf(body), live: jsonOf(live) };
    return { by, change, fields: [], hidden, deployed: found };
  }
  const base = { ...written, ...fieldsOf(deployed.live ?? '{}') };
  // A new field of the definition may stand there already, with a value of theirs.
  const isTaken = (name: string) => Object.hasOwn(base, name) || !isUnset(fieldOf(live, name));
  const theirs = differences(base, live, Object.keys(live).filter(isTaken));
  if (!isOurs && deployed.live === undefined && contains(live, written)) {
    // No answer has shown its last write: settings that the service added look like changes of theirs.
    return { ...unchanged, deployed: { ...deployed, live: jsonOf(live) } };
  }
  if (theirs.length === 0) {
    const ours = wanted ? differences(written, wanted as Fields, names) : [];
    return { by: byOf(isOurs, false), change, fields: ours, hidden, deployed };
  }
  const found = { id, body: jsonOf({ ...written, ...live }), live: jsonOf(live) };
  return { by: byOf(isOurs, true), change, fields: theirs, hidden, deployed: found };
}

// Without a record of its last deployment all that differs is theirs.
function compareUnknown(wanted: object, record: { id: string } | undefined): Found {
  if (record === undefined) {
    return { ...unchanged, by: 'ours', change: 'added', deployed: undefined };
  }
  const deployed = { id: record.id, body: shown(record, wanted), live: shown(record, wanted) };
  const fields = differences(fieldsOf(deployed.body), wanted as Fields, Object.keys(wanted));
  return { ...unchanged, by: fields.length > 0 ? 'theirs' : undefined, fields, deployed };
}

function added(record: WorkflowStep | WorkflowTransition): Found {
  return {
    ...unchanged,
    by: 'theirs',
    change: 'added',
    deployed: { id: record.id, body: jsonOf(pick(record, ['type'])) },
  };
}

function enabledOf(live: LiveGraph, mapping: WorkflowMapping): boolean {
  const { enabled } = mapping.readWorkflow(live);
  if (enabled === undefined) {
    throw notUnderstood(`field \`enabled\` of workflow ${live.id}`);
  }
  return enabled;
}

function strangers<Part extends { id: string }>(
  live: readonly Part[],
  deployed: WorkflowState['steps'],
): Set<Part> {
  const known = new Set(Object.values(deployed).map(({ id }) => id));
  return new Set(live.filter(({ id }) => !known.has(id)));
}

/** Takes the step that is equal, or else the one of the same type and name. */
function takeLike(steps: Set<WorkflowStep>, wanted: Fields): WorkflowStep | undefined {
  const all = [...steps];
  const { type, name } = wanted;
  const equal = all.find((record) => isSame(pick(record, Object.keys(wanted)), wanted));
  const namesake = all.find(
    (record) => name !== undefined && isSame([record.type, record['name']], [type, name]),
  );
  return taken(steps, equal ?? namesake);
}

/** Takes an equal transition; a step that does not exist yet has none. */
function compareTransition(
  body: Fields | undefined,
  strange: Set<WorkflowTransition>,
  mapping: WorkflowMapping,
): Found {
  const isEqual = (record: WorkflowTransition) =>
    body !== undefined && isLikeTransition(record, body, mapping);
  const record = taken(strange, [...strange].find(isEqual));
  return body && record
    ? { ...unchanged, deployed: { id: record.id, body: jsonOf(body), live: shown(record, body) } }
    : compareUnknown({}, undefined);
}

function taken<Part>(parts: Set<Part>, part: Part | undefined): Part | undefined {
  if (part !== undefined) {
    parts.delete(part);
  }
  return part;
}

function existing(parts: ReadonlyMap<string, DeployedPart | undefined>): WorkflowState['steps'] {
  const entries = [...parts].flatMap(([key, part]) => (part ? [[key, part] as const] : []));
  return Object.fromEntries(entries);
}

function changedNames(written: Fields, wanted: object | undefined): string[] {
  const names = Object.keys(overlaid(written, wanted));
  return wanted === undefined
    ? names
    : names.filter((name) => !isSame(fieldOf(written, name), fieldOf(wanted, name)));
}

function byOf(isOurs: boolean, isTheirs: boolean): WorkflowDrift['by'] | undefined {
  if (isOurs && isTheirs) {
    return 'both';
  }
  return isOurs ? 'ours' : isTheirs ? 'theirs' : undefined;
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
