import type { Clock } from '../core/async.js';
import type { Events } from '../core/events.js';
import { reasonOf, reasonSentence } from '../core/errors.js';
import type { MediaConnection } from './connection.js';
import type { MediaEvents } from './events.js';
import { isInOwnNetwork } from './generate/own-network.js';
import { routes } from './generate/routes.js';
import { countedIntervalMs } from './status/counted-poller.js';

const repeatEveryMs = 5 * 60_000;

/** Emits the events of a client that concern its jobs, and not a single call. */
export class MediaNotices {
  readonly #events: Events<MediaEvents>;
  readonly #clock: Clock;
  /** The time of the last warning of each code that is emitted at most every five minutes. */
  readonly #warnedAt = new Map<string, number>();
  #mayWarnOfWebhook: boolean;

  constructor({ events, settings }: MediaConnection) {
    this.#events = events;
    this.#clock = settings.clock;
    this.#mayWarnOfWebhook = !isInOwnNetwork(settings.baseUrl); // a service in the same network reaches it
  }

  /** Warns of a failure after which the work continues. */
  warn(message: string, code?: string): void {
    this.#events.emit('warning', { method: '', path: '', message, code });
  }

  /**
   * Reports that status checks count towards the rate limit. The document has both "10 requests per 10 minutes"
   * and "poll every 10 seconds".
   */
  reportChargedChecks(): void {
    const waitMs = countedIntervalMs;
    this.#events.emit('throttled', { reason: 'status-counts', waitMs, queued: 0 });
  }

  /** Reports a status that is not in the document. */
  reportUnknownStatus(fileId: string, status: unknown): void {
    const what =
      typeof status === 'string'
        ? `is "${status.slice(0, 60)}", which is not in the document`
        : 'is not a string';
    this.#reportMismatch('status', `of ${fileId} ${what}`);
  }

  /** Reports a status response for a file other than the requested one. */
  reportOtherFile(fileId: string): void {
    this.#reportMismatch('fileId', `is not ${fileId}, the requested file`);
  }

  /** Warns that calls cannot be sent, or that the journal cannot be reached, and that a queue retries. */
  warnOfSubmitError(failure: unknown): void {
    this.#warnSometimes(
      'NOT_SUBMITTED',
      `${reasonSentence(failure)} Queued jobs are kept and submitted when this is over.`,
    );
  }

  /** Warns that status checks have failed repeatedly for this long. */
  warnOfFailingChecks(failure: unknown, forMs: number): void {
    const since = new Date(Date.now() - forMs).toISOString();
    this.#warnSometimes(
      'CHECKS_FAIL',
      `Status checks have failed since ${since} and are being retried: ${reasonSentence(failure)} The jobs are still running.`,
    );
  }

  /** Warns once of a webhook in a private network, which the service cannot reach. */
  warnOfWebhook(webhook: string): void {
    if (this.#mayWarnOfWebhook && isInOwnNetwork(webhook)) {
      this.#mayWarnOfWebhook = false;
      this.warn(
        `\`webhook\` is at ${new URL(webhook).host}, which the service cannot reach from outside of your network: no callback will come. Use a public URL, such as that of a tunnel. Waits also work without the callback.`,
        'WEBHOOK_NOT_PUBLIC',
      );
    }
  }

  /** Warns that the inbox of a wait has failed. */
  warnOfInbox(fileId: string, error: unknown): void {
    this.warn(
      `The inbox could not wait for the callback of ${fileId} (${reasonOf(error)}). The wait continues with status checks only.`,
    );
  }

  #reportMismatch(field: string, message: string): void {
    const { method, path } = routes.status;
    this.#events.emit('mismatch', { method, path, issues: [{ field, message }] });
  }

  #warnSometimes(code: string, message: string): void {
    const now = this.#clock.now();
    if (now - (this.#warnedAt.get(code) ?? Number.NEGATIVE_INFINITY) >= repeatEveryMs) {
      this.#warnedAt.set(code, now);
      this.warn(message, code);
    }
  }
}
