import { isRecord } from '../../contract/records.js';
import { ConflictError } from '../../errors/index.js';
import type { Campaign, CampaignCreate } from './types.js';

/** Changes a draft in place, or returns another campaign. It may be async. */
export type CampaignChange<Fields extends object = object> = (draft: Campaign<Fields>) => unknown;

/** What an edit is made of: reading and replacing the campaign. */
export interface EditPlan<Fields extends object> {
  readonly read: () => PromiseLike<Campaign<Fields>>;
  readonly replace: (body: CampaignCreate<Fields>) => PromiseLike<Campaign<Fields>>;
}

/** Changes a whole campaign. It is read again before it is replaced, and must be the same. */
export async function edit<Fields extends object>(
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
      `Campaign ${id} was changed by somebody else in the meantime. Nothing was replaced; edit it again.`,
      { code: 'CAMPAIGN_CHANGED', outcome: 'not-sent' },
    );
  }
  return replace(changed);
}
