import type { Draft, Outage } from './state.js';

// One check that fails is no outage.
const noticeMs = 60_000;

type What = Outage['what'];

/** A status check found no answer. */
export function noteFailedCheck(draft: Draft, error: unknown, now: number): void {
  draft.outage ??= { what: 'checks', since: now, error, isReported: false };
}

/** A call could not be made, or the journal could not be read. */
export function noteOutage(
  draft: Draft,
  what: Exclude<What, 'checks'>,
  error: unknown,
  now: number,
): void {
  const { since = now, isReported = false } = draft.outage ?? {};
  draft.outage = { what, since, error, isReported };
  reportBegin(draft);
}

/** One of these works again. */
export function endOutage(draft: Draft, now: number, works: readonly What[]): void {
  const { outage } = draft;
  if (!outage || !works.includes(outage.what)) {
    return;
  }
  if (outage.isReported) {
    draft.commands.push({ type: 'outage-end', ms: now - outage.since });
  }
  draft.outage = undefined;
}

/** Reports an outage that goes on; the answer is when to look again. */
export function reportOutage(draft: Draft, now: number): number {
  const { outage } = draft;
  if (!outage || outage.isReported) {
    return Number.POSITIVE_INFINITY;
  }
  const at = outage.since + noticeMs;
  if (at <= now) {
    reportBegin(draft);
    return Number.POSITIVE_INFINITY;
  }
  return at;
}

function reportBegin(draft: Draft): void {
  const { outage } = draft;
  if (outage && !outage.isReported) {
    draft.outage = { ...outage, isReported: true };
    draft.commands.push({ type: 'outage', error: outage.error });
  }
}
