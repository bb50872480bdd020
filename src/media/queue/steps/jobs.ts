import type { JobRecord } from '../../jobs/job.js';
import type { FileKind } from '../../status/intervals.js';

/** A job of the input. */
export interface Entry {
  readonly index: number;
  readonly kind: FileKind;
  readonly minutes: number;
  readonly brand: string | undefined;
  /** What only the service can say yes to: a brand kit, a model of a paid plan. */
  readonly needs: readonly string[];
  /** The length that was asked for, which a plan may forbid; 0 where none was. */
  readonly duration: number;
  /** What it is called in the journal. */
  readonly name: string | undefined;
  /** The fingerprint of its content, where it has a name. */
  readonly print: string | undefined;
  /** How often it was refused while the slots may have been full: others go before it. */
  readonly refusals?: number | undefined;
}

/** A call that is on its way. */
export interface InFlightCall {
  readonly entries: readonly Entry[];
  /** The slots that are taken when all of its jobs are accepted. */
  readonly slotsAfter: number;
}

/** A job that the service has accepted. */
export interface RunningJob {
  readonly entry: Entry;
  readonly job: JobRecord;
  /** `undefined` for a job of an earlier run. */
  readonly startedAt: number | undefined;
  readonly followedAt: number;
  readonly changedAt: number;
  /** The last status and progress, as text. */
  readonly seen: string;
  readonly checkAt: number;
  readonly checkedAt: number;
  readonly isChecking: boolean;
  readonly checks: number;
  readonly failures: number;
  readonly failingSince: number | undefined;
  /** Since when the service has refused every check of it. */
  readonly refusedSince: number | undefined;
  readonly missingDownloads: number;
}
