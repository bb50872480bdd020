import type { FakeRequest } from '../../core/types.js';
import { noStats, type Stats } from '../campaigns/stats.js';
import { invalidParameter } from '../lists.js';
import type { Scope } from '../state.js';

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
