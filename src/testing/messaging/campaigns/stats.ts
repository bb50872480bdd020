import type { Project } from '../state.js';

/** messaging, Campaign: send, open, click and bounce counts; the field names are not shown. */
export interface Stats {
  sent: number;
  opened: number;
  clicked: number;
  bounced: number;
}

export function noStats(): Stats {
  return { sent: 0, opened: 0, clicked: 0, bounced: 0 };
}

/** The counts of every campaign that has sent anything; test mails do not count. */
export function statsByCampaign({ outbox }: Project): Map<string, Stats> {
  const all = new Map<string, Stats>();
  for (const { source, sourceId, openedAt, clickedAt, bouncedAt } of outbox) {
    if (source !== 'campaign' || sourceId === undefined) {
      continue;
    }
    const stats = all.get(sourceId) ?? noStats();
    all.set(sourceId, stats);
    stats.sent += 1;
    stats.opened += Number(openedAt !== undefined);
    stats.clicked += Number(clickedAt !== undefined);
    stats.bounced += Number(bouncedAt !== undefined);
  }
  return all;
}
