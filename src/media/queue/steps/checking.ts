import type { JobRecord } from '../../jobs/job.js';
import type { JobEnd } from './commands.js';
import type { Seen } from './events.js';
import type { Entry, RunningJob } from './jobs.js';
import { endOutage, noteFailedCheck } from './outage.js';
import type { Draft, World } from './state.js';

// "every 10 seconds" for a video, "every few seconds" for an audio
const videoMs = 10_000;
const audioMs = { shortest: 3_000, longest: 5_000 };
// One refusal is no fact: it is believed when it stays for so long. A service may not know a job
// everywhere in its first seconds.
const refusalMs = 30_000;
const maxBackoffMs = 60_000;
const othersMs = 10_000;

/** Follows a job to its end. */
export function follow(
  draft: Draft,
  entry: Entry,
  job: JobRecord,
  { now, isNew }: { now: number; isNew: boolean },
): void {
  draft.running.set(entry.index, {
    entry,
    job,
    startedAt: isNew ? now : undefined,
    followedAt: now,
    changedAt: now,
    seen: '',
    checkAt: isNew ? now + intervalMs(job, 0) : now,
    checkedAt: Number.NEGATIVE_INFINITY,
    isChecking: false,
    checks: 0,
    failures: 0,
    failingSince: undefined,
    refusedSince: undefined,
    missingDownloads: 0,
  });
}

/** Asks for the checks that are due; the answer is when the next one is. */
export function checkDue(draft: Draft, world: World): number {
  const { now } = world;
  const due = new Set<string>();
  let next = checkOthers(draft, world, due);
  for (const [index, running] of draft.running) {
    if (running.isChecking) {
      continue;
    }
    if (running.checkAt <= now) {
      due.add(running.job.fileId);
      draft.running.set(index, { ...running, isChecking: true });
    } else {
      next = Math.min(next, running.checkAt);
    }
  }
  if (due.size > 0) {
    draft.commands.push({ type: 'check', fileIds: [...due] });
  }
  return next;
}

/** A status check has brought something. */
export function onChecked(draft: Draft, fileId: string, seen: Seen, world: World): void {
  draft.refreshing.delete(fileId);
  for (const running of draft.running.values()) {
    if (running.job.fileId === fileId) {
      onCheckOf(draft, running, seen, world);
    }
  }
}

function onCheckOf(draft: Draft, running: RunningJob, seen: Seen, world: World): void {
  const { now } = world;
  const { index } = running.entry;
  const base: RunningJob = {
    ...running,
    isChecking: false,
    checkedAt: now,
    checks: running.checks + 1,
    checkAt: now + intervalMs(running.job, running.checks + 1),
  };
  draft.running.set(index, base);
  if (seen.type === 'unclear') {
    noteFailedCheck(draft, seen.error, now);
    onUnclear(draft, base, seen, world);
    return;
  }
  draft.hasConnected = true;
  endOutage(draft, now, ['checks']);
  const answered = { ...base, failures: 0, failingSince: undefined, refusedSince: undefined };
  draft.running.set(index, answered);
  switch (seen.type) {
    case 'pending': {
      onPending(draft, answered, seen.text, now);
      return;
    }
    case 'success': {
      onSuccess(draft, answered, seen.hasDownload);
      return;
    }
    case 'failed': {
      end(draft, answered, { type: 'error', job: answered.job, error: seen.error });
      return;
    }
    case 'refused': {
      onRefused(draft, { ...answered, refusedSince: running.refusedSince ?? now }, seen, now);
      return;
    }
  }
}

/** Ends the jobs whose time is up; the answer is when the next one's is. */
export function endLate(draft: Draft, now: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const running of draft.running.values()) {
    const at = Math.min(running.followedAt + draft.rules.timeoutMs, draft.rules.deadlineAt);
    if (at <= now) {
      end(draft, running, { type: 'timeout', job: running.job, ms: now - running.followedAt });
    } else {
      next = Math.min(next, at);
    }
  }
  return Math.min(next, endUnsaved(draft, now));
}

// The caller's `save` may hang: the deadline is for it as well.
function endUnsaved(draft: Draft, now: number): number {
  const { deadlineAt } = draft.rules;
  if (draft.saving.size === 0 || deadlineAt > now) {
    return draft.saving.size === 0 ? Number.POSITIVE_INFINITY : deadlineAt;
  }
  for (const { entry, job, followedAt } of draft.saving.values()) {
    draft.results++;
    const end: JobEnd = { type: 'unsaved', job, ms: now - followedAt };
    draft.commands.push({ type: 'yield', entry, end });
  }
  draft.saving.clear();
  return Number.POSITIVE_INFINITY;
}

/** A finished file is saved, or could not be. */
export function onSaved(draft: Draft, index: number, error: unknown): void {
  const saving = draft.saving.get(index);
  if (!saving) {
    return;
  }
  draft.saving.delete(index);
  const { entry, job } = saving;
  const end: JobEnd = error === undefined ? { type: 'file', job } : { type: 'error', job, error };
  draft.results++;
  draft.commands.push({ type: 'yield', entry, end });
}

function onPending(draft: Draft, running: RunningJob, text: string, now: number): void {
  const { index } = running.entry;
  const isChange = text !== running.seen;
  const changedAt = isChange ? now : running.changedAt;
  draft.running.set(index, { ...running, seen: text, changedAt });
  if (now - changedAt >= draft.rules.stallMs) {
    end(draft, running, { type: 'stalled', job: running.job, ms: now - changedAt });
  }
}

// A file may be done a moment before its address is known.
function onSuccess(draft: Draft, running: RunningJob, hasDownload: boolean): void {
  const { job, entry } = running;
  if (!hasDownload && running.missingDownloads === 0) {
    draft.running.set(entry.index, { ...running, missingDownloads: 1 });
    return;
  }
  leave(draft, running, true);
  draft.saving.set(entry.index, running);
  draft.commands.push({ type: 'save', job, entry });
}

function onRefused(
  draft: Draft,
  running: RunningJob & { readonly refusedSince: number },
  { error, about }: Extract<Seen, { type: 'refused' }>,
  now: number,
): void {
  draft.running.set(running.entry.index, running);
  if (now - running.refusedSince >= refusalMs) {
    // What is not there takes no slot; anything else may go on.
    end(draft, running, { type: 'error', job: running.job, error }, about === 'file');
    if (about === 'key') {
      draft.refusal = { error }; // a call with this key would be refused as well
    }
  }
}

function onUnclear(
  draft: Draft,
  running: RunningJob,
  { retryAfterMs = 0 }: { retryAfterMs: number | undefined },
  { now }: World,
): void {
  const failingSince = running.failingSince ?? now;
  if (now - failingSince >= draft.rules.outageMs) {
    draft.unsuccessfulSince ??= failingSince; // an outage for calls as well, unless the next one gets through
    end(draft, running, { type: 'lost', job: running.job, ms: now - failingSince });
    return;
  }
  const firstMs = intervalMs(running.job, 0);
  const backoffMs = Math.min(maxBackoffMs, firstMs * 2 ** Math.min(running.failures, 10));
  const checkAt = now + Math.max(retryAfterMs, backoffMs);
  const failures = running.failures + 1;
  draft.running.set(running.entry.index, { ...running, failures, failingSince, checkAt });
}

function end(draft: Draft, running: RunningJob, how: JobEnd, isOver = how.type === 'error'): void {
  leave(draft, running, isOver);
  draft.results++;
  draft.commands.push({ type: 'yield', entry: running.entry, end: how });
}

function leave(draft: Draft, { entry, job }: RunningJob, isCertain: boolean): void {
  draft.running.delete(entry.index);
  draft.refreshing.delete(job.fileId);
  const others = [...draft.running.values()].filter((other) => other.job.fileId === job.fileId);
  if (!isCertain && others.length > 0) {
    return; // another job follows the same file
  }
  draft.commands.push({ type: 'release', fileId: job.fileId, isCertain });
  if (!isCertain) {
    return; // the job may go on, and keeps its slot
  }
  // A slot is free: what the last refusal may have been about is over.
  draft.unsuccessfulSince = undefined;
  draft.refusals = Math.min(draft.refusals, 1);
  draft.pausedUntil = Math.min(draft.pausedUntil, askedOr(draft));
}

function askedOr({ refusedAt, rules, askedUntil }: Draft): number {
  return Math.max(refusedAt + rules.gapMs, askedUntil);
}

// Jobs of others fill the slots: the queue follows them when no other process does.
function checkOthers(draft: Draft, world: World, due: Set<string>): number {
  const { now, otherFiles, freeSlots } = world;
  if (otherFiles.length === 0 || draft.waiting.length <= freeSlots) {
    return Number.POSITIVE_INFINITY;
  }
  const at = draft.othersCheckedAt + othersMs;
  if (at > now) {
    return at;
  }
  draft.othersCheckedAt = now;
  const own = new Set([...draft.running.values()].map(({ job }) => job.fileId));
  otherFiles.filter((fileId) => !own.has(fileId)).forEach((fileId) => due.add(fileId));
  return now + othersMs;
}

function intervalMs({ kind }: JobRecord, checks: number): number {
  if (kind === 'video') {
    return videoMs;
  }
  return Math.min(audioMs.longest, audioMs.shortest * 1.25 ** Math.min(checks, 10));
}
