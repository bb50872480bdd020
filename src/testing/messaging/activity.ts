import type { Handlers } from '../core/types.js';
import { listAnswer } from './lists.js';
import type { Project, Scope } from './state.js';
import { isActive } from './workflow-engine.js';
import { feedOf } from './record.js';

/** The period of the recent count, in milliseconds (not shown by the document). */
const recentMs = 24 * 3_600_000;

/** The bodies of all five are not shown. */
export const handlers: Handlers<Scope> = {
  'GET /activity': (request, scope) => {
    const type = request.query.get('type');
    const feed = feedOf(scope.project);
    const items = feed.filter((entry) => type === null || entry.type === type);
    return listAnswer(scope, request, { items, name: 'activity', style: 'cursor' });
  },

  'GET /activity/stats': (_request, { project }) => {
    const types = countTypes(project);
    const total = [...types.values()].reduce((sum, count) => sum + count, 0);
    return { body: { total, types: Object.fromEntries(types) } };
  },

  'GET /activity/recent-count': (_request, { world, project }) => {
    const since = new Date(world.clock.now() - recentMs).toISOString();
    return {
      body: { count: feedOf(project).filter(({ createdAt }) => createdAt >= since).length },
    };
  },

  'GET /activity/types': (_request, { project }) => ({
    body: { types: [...countTypes(project).keys()].sort() },
  }),

  'GET /activity/upcoming': (_request, { project }) => ({
    body: { scheduledCampaigns: scheduledOf(project), activeExecutions: activeOf(project) },
  }),
};

function countTypes(project: Project): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type } of feedOf(project)) {
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

/** messaging, Activity: upcoming scheduled sends, the next one first. */
function scheduledOf({ campaigns }: Project): object[] {
  return [...campaigns.values()]
    .filter(({ status }) => status === 'SCHEDULED')
    .map(({ id, name, scheduledAt }) => ({ id, name, scheduledAt: scheduledAt ?? '' }))
    .sort((one, other) => (one.scheduledAt < other.scheduledAt ? -1 : 1));
}

/** messaging, Activity: active executions. */
function activeOf({ workflows }: Project): object[] {
  return [...workflows.values()].flatMap(({ executions }) =>
    [...executions.values()].filter(isActive),
  );
}
