import { sleep } from '../../../core/async.js';
import type { Call, RequestOptions } from '../../../core/types.js';
import { isPostreelError, PostreelError } from '../../../core/errors.js';
import { isLikeTransition, shown } from './compare.js';
import { contains, fieldsOf, pick } from './content.js';
import {
  mayHaveHappened,
  notUnderstood,
  readGraph,
  withId,
  type LiveGraph,
  type LiveWorkflows,
} from './live.js';
import type { WorkflowMapping } from './mapping.js';
import type { DeployedPart, PendingCreation, StateKeeper, WorkflowState } from './state.js';

/** What creating and finding parts needs. */
export interface CreationParts {
  readonly workflows: LiveWorkflows;
  readonly keeper: StateKeeper;
  readonly mapping: WorkflowMapping;
  readonly options: RequestOptions;
}

// The service may still be working on a call whose answer was lost.
const checkDelaysMs = [0, 1_000, 3_000];

/**
 * Creates something once. The intent is written down before the call and the id after it, so that
 * neither a crash nor a lost answer creates it twice. While the outcome is unknown it stays pending.
 */
export async function createOnce(
  pending: PendingCreation,
  create: () => Call<{ id: string }>,
  parts: CreationParts,
): Promise<string> {
  const { keeper } = parts;
  await keeper.keep({ pending });
  const record = await createdRecord(pending, create, parts);
  await keeper.keep(accepted(keeper.state, pending, record));
  return record.id;
}

/** Finds out what became of a creation that an earlier deployment could not follow. */
export async function resolveCreation(
  pending: PendingCreation,
  parts: CreationParts,
): Promise<void> {
  const { keeper } = parts;
  const record = await findCreated(pending, parts);
  await keeper.keep(record ? accepted(keeper.state, pending, record) : { pending: undefined });
}

/** The options of calls that clean up: the caller's signal and times have ended already. */
export function cleanUpOptions({ headers, priority }: RequestOptions): RequestOptions {
  return { headers, priority, deadline: 10_000 };
}

async function createdRecord(
  pending: PendingCreation,
  create: () => Call<{ id: string }>,
  parts: CreationParts,
): Promise<{ id: string }> {
  const call = create();
  let failure: unknown;
  try {
    const record = withId(await call);
    if (record) {
      return record;
    }
    failure = notUnderstood(`id of the ${pending.kind} that was created`);
  } catch (thrown) {
    if (!mayHaveHappened(thrown, call)) {
      await parts.keeper.keep({ pending: undefined });
      throw thrown;
    }
    failure = thrown;
  }
  const options = cleanUpOptions(parts.options);
  const found = await findCreated(pending, { ...parts, options }).catch((lookup: unknown) => {
    throw isPostreelError(lookup) && lookup.code === 'DEPLOY_UNCLEAR' ? lookup : failure;
  });
  if (found === undefined) {
    throw failure;
  }
  return found;
}

async function findCreated(
  pending: PendingCreation,
  parts: CreationParts,
): Promise<{ id: string } | undefined> {
  for (const delayMs of checkDelaysMs) {
    if (delayMs > 0) {
      await sleep(delayMs, parts.options.signal);
    }
    const candidates = await newParts(pending, parts);
    const isLike = likenessOf(pending, parts.mapping);
    const found = candidates.filter((record) => isLike(record) !== 'no');
    const [record, ...others] = found;
    if (record !== undefined && others.length === 0 && isLike(record) === 'yes') {
      return record;
    }
    if (record !== undefined) {
      throw unclear(`which ${pending.kind} an interrupted deployment created`, found);
    }
  }
  return undefined;
}

/** The error where several live parts may be the one of a deployment. */
export function unclear(what: string, found: readonly { id: string }[]): PostreelError {
  const ids = found.map(({ id }) => id).join(', ');
  return new PostreelError(
    `It is unclear ${what}: ${ids}. Delete the ones that should not exist, then deploy again.`,
    { code: 'DEPLOY_UNCLEAR', outcome: 'unknown' },
  );
}

/** What is there now and was not when the creation was sent. */
async function newParts(
  pending: PendingCreation,
  parts: CreationParts,
): Promise<readonly { id: string }[]> {
  const { kind, known } = pending;
  const { workflows, options, keeper } = parts;
  const isLike = likenessOf(pending, parts.mapping);
  const isNew = ({ id }: { id: string }) => !known.includes(id);
  if (kind !== 'workflow') {
    const graph = await readGraph(parts, keeper.state.workflow?.id ?? '', options);
    return ((kind === 'step' ? graph?.steps : graph?.transitions) ?? []).filter(isNew);
  }
  const found: LiveGraph[] = [];
  for await (const listed of workflows.list({}, options)) {
    const workflow = withId(listed);
    // A list may show less than the workflow itself.
    if (workflow && isNew(workflow) && isLike(workflow) !== 'no') {
      const graph = await readGraph(parts, workflow.id, options);
      found.push(...(graph ? [graph] : []));
    }
  }
  return found;
}

/** Does a record look like what was sent? `'unknown'` where it does not show enough. */
function likenessOf(
  { kind, body }: PendingCreation,
  mapping: WorkflowMapping,
): (record: { id: string }) => 'yes' | 'no' | 'unknown' {
  const sent = fieldsOf(body);
  return (record) => {
    if (kind === 'transition') {
      const isReadable = mapping.readTransition(record) !== undefined;
      return isLikeTransition(record, sent, mapping) ? 'yes' : isReadable ? 'no' : 'unknown';
    }
    const visible = pick(record, Object.keys(sent));
    if (!contains(visible, pick(sent, Object.keys(visible)))) {
      return 'no';
    }
    return Object.keys(sent).every((name) => Object.hasOwn(visible, name)) ? 'yes' : 'unknown';
  };
}

function accepted(
  state: WorkflowState,
  { kind, key, body }: PendingCreation,
  record: { id: string },
): Partial<WorkflowState> {
  const pending = undefined;
  const part: DeployedPart = { id: record.id, body, live: shown(record, fieldsOf(body)) };
  switch (kind) {
    case 'workflow':
      return { pending, workflow: part };
    case 'step':
      return { pending, steps: { ...state.steps, [key]: part } };
    case 'transition':
      return { pending, transitions: { ...state.transitions, [key]: part } };
  }
}
