import { sleep } from '../../../async/timers.js';
import type { RequestOptions } from '../../../contract/call.js';
import { isPostreelError, PostreelError } from '../../../errors/index.js';
import type { LiveGraph, WorkflowCalls } from './calls.js';
import type { WorkflowMapping } from './mapping.js';
import type { PendingCreation, StateKeeper, WorkflowState } from './state.js';

/** What creating and finding parts needs. */
export interface CreationParts {
  readonly calls: WorkflowCalls;
  readonly keeper: StateKeeper;
  readonly mapping: WorkflowMapping;
  readonly options: RequestOptions;
}

// The service may still be working on a call whose answer was lost.
const secondCheckMs = 1_000;

/**
 * Creates something once. The intent is written down before the call and the id after it, so that
 * neither a crash nor a lost answer creates it twice.
 */
export async function createOnce(
  pending: PendingCreation,
  call: () => PromiseLike<{ id: string }>,
  parts: CreationParts,
): Promise<string> {
  const { keeper } = parts;
  await keeper.keep({ pending });
  const id = await createdId(pending, call, parts);
  await keeper.keep(accepted(keeper.state, pending, id));
  return id;
}

/** Finds out what became of a creation that a crash interrupted. */
export async function settleCreation(
  pending: PendingCreation,
  parts: CreationParts,
): Promise<void> {
  const { keeper } = parts;
  const id = await findCreated(pending, parts);
  await keeper.keep(
    id === undefined ? { pending: undefined } : accepted(keeper.state, pending, id),
  );
}

/** A live workflow; `undefined` when there is none of that id. */
export async function readGraph(
  { calls, options }: Pick<CreationParts, 'calls' | 'options'>,
  id: string,
): Promise<LiveGraph | undefined> {
  try {
    return await calls.get(id, options);
  } catch (failure) {
    if (isPostreelError(failure) && failure.status === 404) {
      return undefined;
    }
    throw failure;
  }
}

async function createdId(
  pending: PendingCreation,
  call: () => PromiseLike<{ id: string }>,
  parts: CreationParts,
): Promise<string> {
  try {
    const { id } = await call();
    return id;
  } catch (failure) {
    const isLost = !isPostreelError(failure) || failure.outcome === 'unknown';
    const id = isLost ? await findCreated(pending, parts) : undefined;
    if (id !== undefined) {
      return id;
    }
    await parts.keeper.keep({ pending: undefined });
    throw failure;
  }
}

async function findCreated(
  pending: PendingCreation,
  parts: CreationParts,
): Promise<string | undefined> {
  for (const delayMs of [0, secondCheckMs]) {
    if (delayMs > 0) {
      await sleep(delayMs, parts.options.signal);
    }
    const [found, ...others] = await createdIds(pending, parts);
    if (others.length > 0) {
      throw new PostreelError(
        `It is unclear which ${pending.kind} an interrupted deployment created: ${[found, ...others].join(', ')}. Delete the ones that should not exist, then deploy again.`,
        { code: 'DEPLOY_UNCLEAR', outcome: 'unknown' },
      );
    }
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

async function createdIds(
  { kind, body, known }: PendingCreation,
  { calls, keeper, mapping, options }: CreationParts,
): Promise<string[]> {
  const isNew = ({ id }: { id: string }) => !known.includes(id);
  if (kind !== 'workflow') {
    const graph = await readGraph({ calls, options }, keeper.state.workflowId ?? '');
    const parts = (kind === 'step' ? graph?.steps : graph?.transitions) ?? [];
    return parts.filter(isNew).map(({ id }) => id);
  }
  const { name } = JSON.parse(body) as { name?: unknown }; // a body that was written here
  const found: string[] = [];
  for await (const workflow of calls.list(options)) {
    if (isNew(workflow) && mapping.readWorkflow(workflow).name === name) {
      found.push(workflow.id);
    }
  }
  return found;
}

function accepted(
  state: WorkflowState,
  { kind, key, body }: PendingCreation,
  id: string,
): Partial<WorkflowState> {
  const pending = undefined;
  switch (kind) {
    case 'workflow':
      return { pending, workflowId: id, workflow: body };
    case 'step':
      return { pending, steps: { ...state.steps, [key]: { id, body } } };
    case 'transition':
      return { pending, transitions: { ...state.transitions, [key]: { id, body } } };
  }
}
