import type { FakeRequest, Handlers } from '../../core/types.js';
import { noStats, statsByCampaign } from '../campaigns/stats.js';
import { invalidParameter, readCount } from '../lists.js';
import type { Project, Scope } from '../state.js';
import { timeseries } from './timeseries.js';

const metrics = ['sent', 'opened', 'clicked', 'bounced'] as const;

/** Queries and bodies of all four are not shown. */
export const handlers: Handlers<Scope> = {
  'GET /analytics/timeseries': (request, scope) => ({
    body: { timeseries: timeseries(request, scope) },
  }),

  'GET /analytics/top-campaigns': (request, { project }) => {
    const metric = readMetric(request);
    const campaigns = campaignRows(project).sort((one, other) => other[metric] - one[metric]);
    return { body: { metric, campaigns: campaigns.slice(0, readCount(request, 'limit', 10)) } };
  },

  'GET /analytics/campaign-stats': (_request, { project }) => ({
    body: { campaigns: campaignRows(project) },
  }),

  'GET /analytics/top-events': (request, { project }) => {
    const counts = new Map<string, number>();
    for (const { name } of project.events) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const events = [...counts].map(([name, count]) => ({ name, count }));
    events.sort((one, other) => other.count - one.count);
    return { body: { events: events.slice(0, readCount(request, 'limit', 10)) } };
  },
};

function readMetric({ query }: FakeRequest): (typeof metrics)[number] {
  const name = query.get('metric') ?? 'opened';
  const metric = metrics.find((one) => one === name);
  if (metric !== undefined) {
    return metric;
  }
  throw invalidParameter('metric', `\`metric\` must be one of ${metrics.join(', ')}.`);
}

function campaignRows(project: Project) {
  const stats = statsByCampaign(project);
  return [...project.campaigns.values()].map(({ id, name, status }) => ({
    id,
    name,
    status,
    ...(stats.get(id) ?? noStats()),
  }));
}
