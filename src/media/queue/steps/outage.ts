import type { Draft } from './state.js';

// One check that fails is no outage.
const noticeMs = 60_000;

/** A status check found no answer. */
export function noteFailedCheck(draft: Draft, error: unknown, now: number): void {
  draft.outage ??= { since: now, error, isReported: false };
}

/** A call could not be made. */
export function noteFailedCall(draft: Draft, error: unknown, now: number): void {
  noteFailedCheck(draft, error, now);
  reportBegin(draft);
}

/** There is an answer again. */
export function endOutage(draft: Draft, now: number): void {
  if (draft.outage?.isReported) {
    draft.commands.push({ type: 'outage-end', ms: now - draft.outage.since });
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
