import type { Acknowledgement } from '../../core/values.js';
import { anyList, of, route } from '../../core/route.js';
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
  delete: route('DELETE /campaigns/{id}', { returns: of<Acknowledgement>() }),
  duplicate: route('POST /campaigns/{id}/duplicate', { returns: of<Campaign>() }),
  send: route('POST /campaigns/{id}/send', {
    body: of<CampaignSend | undefined>(),
    returns: of<Acknowledgement>(),
  }),
  cancel: route('POST /campaigns/{id}/cancel', {
    returns: of<Acknowledgement>(),
    repeatable: true, // the same state twice
  }),
  sendTest: route('POST /campaigns/{id}/test', {
    body: of<CampaignTest>(),
    returns: of<Acknowledgement>(),
  }),
  stats: route('GET /campaigns/{id}/stats', { returns: of<CampaignStats>() }),
};
