import type { Clock } from '../core/async.js';
import type { Events } from '../core/events.js';
import { reasonOf } from '../core/errors.js';
import { countedIntervalMs } from './status/counted-poller.js';
import type { MediaEvents } from './events.js';
import { routes } from './generate/routes.js';

export type MediaEmitter = Pick<Events<MediaEvents>, 'emit'>;

/**
 * Reports that status checks count towards the rate limit. The document has both "10 requests per 10 minutes"
 * and "poll every 10 seconds".
 */
export function statusChecksAreCharged(events: MediaEmitter): void {
  events.emit('throttled', { reason: 'status-counts', waitMs: countedIntervalMs, queued: 0 });
}

/** Reports a status that is not in the document. */
export function unknownStatus(events: MediaEmitter, fileId: string, status: unknown): void {
  const what = typeof status === 'string' ? `is "${status.slice(0, 60)}"` : 'is no text';
  const message = `of ${fileId} ${what}, which is not in the document`;
  const { method, path } = routes.status;
  events.emit('mismatch', { method, path, issues: [{ field: 'status', message }] });
}

/** Reports a status response for a file other than the requested one. */
export function otherFile(events: MediaEmitter, fileId: string): void {
  const message = `is not ${fileId}, which was asked for`;
  const { method, path } = routes.status;
  events.emit('mismatch', { method, path, issues: [{ field: 'fileId', message }] });
}

/** Warns of a failure after which the work continues. */
export function warn(events: MediaEmitter, message: string, code?: string): void {
  events.emit('warning', { method: '', path: '', message, code });
}

/** Warns that calls cannot be sent, or that the journal cannot be reached, and that a queue retries. */
export function submissionFails(events: MediaEmitter, failure: unknown): void {
  const why = sentenceOf(failure);
  warn(events, `${why} Jobs of queues wait for it, and are submitted then.`, 'NOT_SUBMITTED');
}

/** Warns that status checks fail repeatedly. */
export function checksFail(events: MediaEmitter, failure: unknown, forMs: number): void {
  const since = new Date(Date.now() - forMs).toISOString();
  const message = `Status checks have failed since ${since} and are being retried: ${sentenceOf(failure)} The jobs are still running.`;
  warn(events, message, 'CHECKS_FAIL');
}

/** Warns that the service cannot reach the address of a webhook. */
export function webhookInOwnNetwork(events: MediaEmitter, webhook: string): void {
  warn(
    events,
    `\`webhook\` is at ${new URL(webhook).host}, which the service cannot reach from outside of your network: no callback will come. Give a public URL, such as that of a tunnel; a wait ends without a callback too.`,
    'WEBHOOK_NOT_PUBLIC',
  );
}

/** Warns that the inbox of a wait has failed. */
export function noInbox(events: MediaEmitter, fileId: string, error: unknown): void {
  const reason = reasonOf(error);
  warn(
    events,
    `The inbox could not wait for the callback of ${fileId} (${reason}). The wait continues with status checks only.`,
  );
}

const repeatEveryMs = 5 * 60_000;

/** Limits a notice to one every five minutes. */
export function repeated<Facts extends unknown[]>(
  clock: Clock,
  notice: (...facts: Facts) => void,
): (...facts: Facts) => void {
  let at = Number.NEGATIVE_INFINITY;
  return (...facts) => {
    if (clock.now() - at >= repeatEveryMs) {
      at = clock.now();
      notice(...facts);
    }
  };
}

function sentenceOf(failure: unknown): string {
  return `${reasonOf(failure).replace(/\.$/, '')}.`;
}
