import type { Draft } from './state.js';

// One lost answer may happen; after two in a row the next one is as likely to be lost, and is paid for.
const maxUnknownCalls = 2;

/** A call may have been accepted, and its answer was lost. */
export function countUnknownCall(draft: Draft, now: number): void {
  draft.unknownCalls++;
  if (draft.unknownCalls >= maxUnknownCalls && draft.heldSince === undefined) {
    draft.heldSince = now;
    draft.commands.push({ type: 'held', ms: draft.rules.unknownMs });
  }
}

/** A call was answered, or the caller goes on. */
export function releaseCalls(draft: Draft): void {
  draft.unknownCalls = 0;
  draft.heldSince = undefined;
}

/** When a queue that holds its calls back gives up. */
export function heldUntil({ heldSince, rules }: Draft): number {
  return heldSince === undefined ? Number.POSITIVE_INFINITY : heldSince + rules.unknownMs;
}
