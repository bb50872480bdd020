import type { FakeRequest, Handlers } from '../core/types.js';
import { noStats, statsByCampaign, type Stats } from './campaigns.js';
import { invalidParameter, readCount } from './lists.js';
import type { Project, Scope } from './state.js';

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

const dayMs = 86_400_000;
const defaultDays = 30;
const maxDays = 366;

/** Mail by day, in UTC, each reaction on its own day; `startDate` and `endDate` are included. */
export function timeseries(request: FakeRequest, { world, project }: Scope): object[] {
  const end = readDate(request, 'endDate') ?? world.clock.now();
  const start = readDate(request, 'startDate') ?? end - (defaultDays - 1) * dayMs;
  const days = daysBetween(start, end);
  for (const { sentAt, openedAt, clickedAt, bouncedAt } of project.outbox) {
    count(days, 'sent', sentAt);
    count(days, 'opened', openedAt);
    count(days, 'clicked', clickedAt);
    count(days, 'bounced', bouncedAt);
  }
  return [...days].map(([date, stats]) => ({ date, ...stats }));
}

function readDate({ query }: FakeRequest, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) {
    return undefined;
  }
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw invalidParameter(name, `\`${name}\` must be an ISO 8601 date.`);
  }
  return time;
}

function daysBetween(start: number, end: number): Map<string, Stats> {
  if (start > end || end - start > maxDays * dayMs) {
    throw invalidParameter('startDate', 'The dates must span from one day to a year.');
  }
  const days = new Map<string, Stats>();
  for (let day = start - (start % dayMs); day <= end; day += dayMs) {
    days.set(dateOf(new Date(day).toISOString()), noStats());
  }
  return days;
}

function count(days: Map<string, Stats>, kind: keyof Stats, at: string | undefined): void {
  const day = at === undefined ? undefined : days.get(dateOf(at));
  if (day !== undefined) {
    day[kind] += 1;
  }
}

const dateOf = (iso: string) => iso.slice(0, 'YYYY-MM-DD'.length);
