import type { Duration } from '../core/clock.js';

/** The states of a file (media, States and transitions). */
export type FileStatus = 'queued' | 'processing' | 'success' | 'error' | 'canceled';

/** A generated file, as the fake knows it. */
export interface MediaFile {
  readonly fileId: string;
  readonly kind: 'video' | 'audio';
  readonly name: string;
  /** The folder of a video; audio files have none. */
  readonly folderId: string | undefined;
  /** The fields of the request, with the documented defaults and without fields that have no effect. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The brand kit that was applied, without its voice. */
  readonly brand: BrandKit | undefined;
  /** How long it plays, intro and outro included. */
  readonly lengthSeconds: number;
  /** What an export costs: one credit per started minute. */
  readonly credits: number;
  status: FileStatus;
  /** Times on the fake's clock, in milliseconds since 1970. */
  readonly acceptedAt: number;
  readonly startsAt: number;
  readonly finishesAt: number;
  /** The address of the finished file; `undefined` before and without success. */
  download: string | undefined;
  /** Changing it changes the bytes and the ETag of the download. @default 1 */
  revision: number;
}

/** A workspace folder. */
export interface MediaFolder {
  readonly folderId: string;
  readonly name: string;
}

/** A brand kit of the account; the parts it lacks are skipped. */
export interface BrandKit {
  readonly brandId: string;
  readonly logo?: string;
  readonly introSeconds?: number;
  readonly outroSeconds?: number;
  readonly colours?: readonly string[];
  readonly fonts?: readonly string[];
  /** Never applied: the request's `voiceId` narrates. */
  readonly voiceId?: string;
}

/** The scripted end of a job; by default a job succeeds after its usual time. */
export interface Outcome {
  /** @default 'success' */
  status?: 'success' | 'error' | 'canceled';
  /** The time from acceptance to the end. @default what `durations` says */
  after?: Duration;
  /** The progress that every status check reports; `false` leaves it out. */
  progress?: number | false;
  /** Leaves `download` out of a success, against the document. */
  omitDownload?: boolean;
  /** A status outside of the document, reported in place of `processing`. */
  unknownStatus?: string;
  /** The number of jobs that the script applies to. @default 1 */
  times?: number;
}

/** One POST to the webhook of an audio job. */
export interface CallbackAttempt {
  readonly fileId: string;
  readonly url: string;
  readonly body: unknown;
  /** The time on the fake's clock, in milliseconds since 1970. */
  readonly at: number;
  /** The status of the receiver's response; `undefined` while the POST is pending, and after a failure. */
  status: number | undefined;
  /** Why the receiver was not reached. */
  error: unknown;
}
