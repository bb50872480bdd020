import { isRecord } from '../../core/values.js';
import { sleep } from '../../core/async.js';
import { ConflictError, isPostreelError, PostreelError } from '../../core/errors.js';
import type { Campaign, CampaignCreate } from './types.js';

const pauseMs = 10;
/** As long as one attempt of a call may take: who waits longer may be waiting for itself. */
const maxWaitMs = 30_000;

/** Changes a draft in place, or returns another campaign. It may be async. */
export type CampaignChange<Fields extends object = object> = (draft: Campaign<Fields>) => unknown;

/** The project that a campaign belongs to: ids of two projects may be equal. */
export interface CampaignProject {
  readonly baseUrl: string;
  readonly group: string | undefined;
}

/** What an edit is made of: reading and replacing the campaign. */
export interface EditPlan<Fields extends object> {
  readonly project: CampaignProject;
  readonly read: () => PromiseLike<Campaign<Fields>>;
  readonly signal: AbortSignal | undefined;
  readonly replace: (body: CampaignCreate<Fields>) => PromiseLike<Campaign<Fields>>;
}

/** The campaigns that are being edited, whichever client does it. */
const edited = /* @__PURE__ */ new Set<string>();

/**
 * Changes a whole campaign, one edit at a time. It is read again before it is replaced, and must be the
 * same; it is read once more after that, and must have the change.
 */
export async function edit<Fields extends object>(
  id: string,
  change: CampaignChange<Fields>,
  plan: EditPlan<Fields>,
): Promise<Campaign<Fields>> {
  // Each edit asks for itself: in Workers a request must not await a promise of another one.
  const name = nameOf(id, plan.project);
  for (let waitedMs = 0; edited.has(name); waitedMs += pauseMs) {
    if (waitedMs >= maxWaitMs) {
      throw new ConflictError(
        `Campaign ${id} has been edited by another call for ${maxWaitMs / 1000} s. Nothing was replaced; edit it again.`,
        { code: 'CAMPAIGN_CHANGED', outcome: 'not-sent' },
      );
    }
    await sleep(pauseMs, plan.signal);
  }
  edited.add(name);
  try {
    return await editAlone(id, change, plan);
  } finally {
    edited.delete(name);
  }
}

// A number and its text are the same campaign.
function nameOf(id: unknown, { baseUrl, group }: CampaignProject): string {
  return JSON.stringify([baseUrl, group, String(id)]);
}

async function editAlone<Fields extends object>(
  id: string,
  change: CampaignChange<Fields>,
  { read, replace }: EditPlan<Fields>,
): Promise<Campaign<Fields>> {
  const before = await read();
  const draft = structuredClone(before);
  const result = await change(draft);
  // `(draft) => (draft.subject = 'Hi')` returns a string: only a record is another campaign.
  const changed = isRecord(result) ? (result as Campaign<Fields>) : draft;
  const now = await read();
  if (JSON.stringify(now) !== JSON.stringify(before)) {
    throw new ConflictError(
      `Campaign ${id} was changed by another edit in the meantime. Nothing was replaced; edit it again.`,
      { code: 'CAMPAIGN_CHANGED', outcome: 'not-sent' },
    );
  }
  await replace(changed);
  const after = await readBack(id, read);
  const lost = Object.keys(changed).filter(
    (field) => !isSame(changed[field], before[field]) && isSame(after[field], before[field]),
  );
  if (lost.length > 0) {
    throw new ConflictError(
      `Campaign ${id} was replaced, but \`${lost.join('`, `')}\` is as before: another edit may have undone it.`,
      { code: 'CAMPAIGN_CHANGED', outcome: 'unknown' },
    );
  }
  return after;
}

/** A reading that fails, or is aborted, must not hide that the campaign was replaced. */
async function readBack<Fields extends object>(
  id: string,
  read: EditPlan<Fields>['read'],
): Promise<Campaign<Fields>> {
  try {
    return await read();
  } catch (cause) {
    const why = isPostreelError(cause) ? ` ${cause.message}` : '';
    throw new PostreelError(
      `Campaign ${id} was replaced, but could not be read back: see whether it has your change.${why}`,
      { code: 'OUTCOME_UNKNOWN', outcome: 'unknown', cause },
    );
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
