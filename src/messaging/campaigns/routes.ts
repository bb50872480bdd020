import { isDate, isRecord, type Acknowledgement } from '../../core/values.js';
import { statusWord } from '../../core/wait.js';
import { anyList, of, goneFrom, route } from '../../core/route.js';
import type {
  Campaign,
  CampaignCreate,
  CampaignQuery,
  CampaignSend,
  CampaignStats,
  CampaignTest,
  CreatedCampaign,
} from './types.js';

export const routes = {
  list: route('GET /campaigns', {
    query: of<CampaignQuery>(),
    returns: anyList<Campaign>('campaigns'),
  }),
  create: route('POST /campaigns', { body: of<CampaignCreate>(), returns: of<CreatedCampaign>() }),
  get: route('GET /campaigns/{id}', { returns: of<Campaign>() }),
  replace: route('PUT /campaigns/{id}', { body: of<CampaignCreate>(), returns: of<Campaign>() }),
  delete: route('DELETE /campaigns/{id}', {
    returns: of<Acknowledgement>(),
    readBack: goneFrom('/campaigns/{id}'),
  }),
  duplicate: route('POST /campaigns/{id}/duplicate', { returns: of<Campaign>() }),
  send: route('POST /campaigns/{id}/send', {
    body: of<CampaignSend | undefined>(),
    returns: of<Acknowledgement>(),
    readBack: { path: '/campaigns/{id}', happened: wasSent },
  }),
  cancel: route('POST /campaigns/{id}/cancel', {
    returns: of<Acknowledgement>(),
    repeatable: true, // the same state twice
    readBack: {
      path: '/campaigns/{id}',
      happened: (campaign) => statusWord(campaign).startsWith('cancel'),
    },
  }),
  sendTest: route('POST /campaigns/{id}/test', {
    body: of<CampaignTest>(),
    returns: of<Acknowledgement>(),
  }),
  stats: route('GET /campaigns/{id}/stats', { returns: of<CampaignStats>() }),
};

// Only a proof is taken. A campaign that was scheduled before shows by its time whether it was
// rescheduled.
function wasSent(campaign: Readonly<Record<string, unknown>> | undefined, body: unknown): boolean {
  const status = statusWord(campaign);
  if (status !== 'scheduled') {
    return ['sending', 'sent'].includes(status);
  }
  const wanted = isRecord(body) ? instantOf(body['scheduledFor']) : undefined;
  return wanted !== undefined && wanted === instantOf(campaign?.['scheduledAt']);
}

function instantOf(value: unknown): number | undefined {
  const time = typeof value === 'string' || isDate(value) ? Number(new Date(value)) : NaN;
  return Number.isNaN(time) ? undefined : time;
}
