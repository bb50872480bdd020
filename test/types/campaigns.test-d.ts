import type { Campaign, CampaignCreate, CampaignSend, CreatedCampaign } from 'postreel';
import { expectTypeOf } from 'vitest';
import type { Campaigns } from 'postreel/messaging';

// Answers stay open: a new status must not break a caller.
expectTypeOf<string>().toExtend<Campaign['status']>();
expectTypeOf<CreatedCampaign>().toExtend<Campaign>();

const content = { name: 'Spring', subject: 'Spring', body: '<p>Hi</p>', from: 'a@example.com' };
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;

export const audiences: CampaignCreate[] = [
  { ...content, audienceType: 'ALL' },
  { ...content, audienceType: 'SEGMENT', segmentId: 'seg_1' },
  { ...content, audienceType: 'FILTERED', audienceFilter: condition },
  { ...content, audienceType: 'FILTERED', audienceFilter: { and: [condition, condition] } },
];

// @ts-expect-error -- an audience is required
export const toNobody: CampaignCreate = content;
// @ts-expect-error -- there is no such audience
export const toFriends: CampaignCreate = { ...content, audienceType: 'FRIENDS' };
// @ts-expect-error -- a segment is required for SEGMENT
export const withoutSegment: CampaignCreate = { ...content, audienceType: 'SEGMENT' };
// @ts-expect-error -- a filter is required for FILTERED
export const withoutFilter: CampaignCreate = { ...content, audienceType: 'FILTERED' };
// @ts-expect-error -- the segment would be ignored, and the campaign go to everybody
export const ignored: CampaignCreate = { ...content, audienceType: 'ALL', segmentId: 'seg_1' };
const toSegment = { ...content, audienceType: 'SEGMENT', segmentId: 'seg_1' } as const;
// @ts-expect-error -- a filter is for FILTERED alone
export const both: CampaignCreate = { ...toSegment, audienceFilter: condition };
export const textFilter: CampaignCreate = {
  ...content,
  audienceType: 'FILTERED',
  // @ts-expect-error -- a filter is an object
  audienceFilter: 'plan = pro',
};
// @ts-expect-error -- a sender is required
export const anonymous: CampaignCreate = {
  name: 'Spring',
  subject: 'Spring',
  body: '<p>Hi</p>',
  audienceType: 'ALL',
};

export const times: CampaignSend[] = [
  {},
  { scheduledFor: new Date() },
  { scheduledFor: '2999-01-01T09:00:00Z' },
  { scheduledFor: null }, // now, as when it is left out
];
// @ts-expect-error -- leaving it out sends to everybody now, so it must be meant
export const byAccident: CampaignSend = { scheduledFor: undefined };
// @ts-expect-error -- a time is a Date or a string
export const asNumber: CampaignSend = { scheduledFor: Date.now() };

export function calls(campaigns: Campaigns) {
  void campaigns.send('cmp_1');
  void campaigns.send('cmp_1', undefined, { timeout: 1000 });
  // @ts-expect-error -- the answer's name for it would send to everybody now
  void campaigns.send('cmp_1', { scheduledAt: new Date() });
  // @ts-expect-error -- options come after the body
  void campaigns.send('cmp_1', { timeout: 1000 });
  // @ts-expect-error -- a test goes to an address
  void campaigns.sendTest('cmp_1');
  // @ts-expect-error -- an answer is not a body: a replacement is whole
  void campaigns.replace('cmp_1', { name: 'Spring' });
}
