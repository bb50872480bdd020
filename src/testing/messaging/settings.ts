/** How the fake behaves where the service's document leaves a choice; may be changed at any time. */
export interface MessagingSettings {
  /** The `DISABLE_SIGNUPS` setting of the service. @default false */
  disableSignups: boolean;
  /** `legacy` for `/v1/send` and `/v1/verify` only; `bare` is `{ "error": "text" }`. @default 'envelope' */
  errorShape: 'envelope' | 'legacy' | 'bare';
  /** @default 'documented' */
  listStyle: 'documented' | 'array' | 'named' | 'cursor' | 'page';
  /** How a cursor list says that it is over; the `cursor-` ones send no `hasMore`. @default 'hasMore-false' */
  lastPage: 'hasMore-false' | 'cursor-null' | 'cursor-absent' | 'cursor-empty';
  /** @default 'documented' */
  envelopes: 'documented' | 'always' | 'never';
  /** How import and bulk jobs tell their state: the document does not show it. */
  jobs: JobSettings;
  /** The total of the attachments of a `/v1/send`. @default 10 MB */
  maxAttachmentBytes: number;
  /** Makes the calls of WEBHOOK steps. Left out: they are recorded as answered with 200, and go nowhere. */
  webhookFetch?: typeof fetch;
}

/** How import and bulk jobs look and how fast they are. */
export interface JobSettings {
  /** @default 'status' */
  statusField: 'status' | 'state';
  /** The word for a finished job. @default 'completed' */
  done: string;
  /** The word for a job that could not be done. @default 'failed' */
  failed: string;
  /** How progress is told. @default 'fraction' */
  progress: 'fraction' | 'percent' | 'none';
  /** How many rows or contacts a job handles in a second of the clock. @default 1000 */
  perSecond: number;
  /** After how many milliseconds a finished job is forgotten (404). @default Infinity */
  keepMs: number;
}

/** The settings of a fake that was given these; everything else as documented. */
export function settingsOf(given: SettingsOptions): MessagingSettings {
  return {
    disableSignups: given.disableSignups ?? false,
    errorShape: given.errorShape ?? 'envelope',
    listStyle: given.listStyle ?? 'documented',
    lastPage: given.lastPage ?? 'hasMore-false',
    envelopes: given.envelopes ?? 'documented',
    // messaging, Limits: 10 MB by default.
    maxAttachmentBytes: given.maxAttachmentBytes ?? 10 * 1024 * 1024,
    ...(given.webhookFetch && { webhookFetch: given.webhookFetch }),
    jobs: { ...jobDefaults, ...given.jobs },
  };
}

/** Settings to start with. */
export interface SettingsOptions extends Partial<Omit<MessagingSettings, 'jobs'>> {
  jobs?: Partial<JobSettings>;
}

const jobDefaults: JobSettings = {
  statusField: 'status',
  done: 'completed',
  failed: 'failed',
  progress: 'fraction',
  perSecond: 1000,
  keepMs: Infinity,
};
