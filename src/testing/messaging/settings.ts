import {
  amount,
  atLeast,
  callback,
  flag,
  group,
  milliseconds,
  oneOf,
  text,
  type OptionKinds,
} from '../../core/options.js';
import { behaviorOf, kindsOf } from '../behavior/setting.js';
import { messagingBehaviors, type MessagingBehavior } from '../behavior/messaging.js';

/** How the fake behaves where the service's document leaves a choice; may be changed at any time. */
export interface MessagingSettings extends MessagingBehavior {
  /** The `DISABLE_SIGNUPS` setting of the service. @default false */
  disableSignups: boolean;
  /** How import and bulk jobs show their state: the document does not show it. */
  jobs: JobSettings;
  /** The total of the attachments of a `/v1/send`. @default 10 MB */
  maxAttachmentBytes: number;
  /** Makes the calls of WEBHOOK steps. Left out: they are recorded as answered with 200, and go nowhere. */
  webhookFetch?: typeof fetch;
}

/** How import and bulk jobs look and how fast they are. */
export interface JobSettings {
  /** @default 'state' */
  statusField: 'status' | 'state';
  /** The word for a finished job. @default 'completed' */
  done: string;
  /** The word for a job that could not be done. @default 'failed' */
  failed: string;
  /** How progress is told. @default 'percent' */
  progress: 'fraction' | 'percent' | 'none';
  /** How many rows or contacts a job handles in a second of the clock. @default 1000 */
  perSecond: number;
  /** After how many milliseconds a finished job is forgotten (404). @default Infinity */
  keepMs: number;
}

const jobKinds: OptionKinds<JobSettings> = {
  statusField: oneOf('status', 'state'),
  done: text,
  failed: text,
  progress: oneOf('fraction', 'percent', 'none'),
  perSecond: amount,
  keepMs: milliseconds,
};

/** Settings to start with. */
export interface SettingsOptions extends Partial<Omit<MessagingSettings, 'jobs'>> {
  /** A world: what the service does where its document is silent. */
  behavior?: Partial<MessagingBehavior>;
  jobs?: Partial<JobSettings>;
}

/** The kinds of these settings. */
export const settingsKinds: OptionKinds<SettingsOptions> = {
  ...kindsOf(messagingBehaviors),
  behavior: group(kindsOf(messagingBehaviors), 'an object of settings'),
  jobs: group(jobKinds),
  disableSignups: flag,
  maxAttachmentBytes: atLeast(0),
  webhookFetch: callback(),
};

/** The settings of a fake that was given these; everything else as documented. */
export function settingsOf(given: SettingsOptions): MessagingSettings {
  const { behavior, jobs, disableSignups, maxAttachmentBytes, webhookFetch } = given;
  const world = behaviorOf(messagingBehaviors, { ...behavior, ...behaviorIn(given) });
  return {
    ...world,
    disableSignups: disableSignups ?? false,
    // messaging, Limits: 10 MB by default.
    maxAttachmentBytes: maxAttachmentBytes ?? 10 * 1024 * 1024,
    ...(webhookFetch && { webhookFetch }),
    jobs: { ...jobsOf(world), ...jobs },
  };
}

/** The settings of a world that stand beside `behavior`. */
function behaviorIn(given: object): Partial<MessagingBehavior> {
  const entries = Object.entries(given).filter(
    ([name, value]) => name in messagingBehaviors && value !== undefined,
  );
  return Object.fromEntries(entries); // entries lose their types
}

function jobsOf({ jobStatusField, jobWords, jobProgress }: MessagingBehavior): JobSettings {
  return {
    statusField: jobStatusField,
    done: jobWords,
    failed: failures[jobWords],
    progress: jobProgress,
    perSecond: 1000,
    keepMs: Infinity,
  };
}

/** The word for a failure that goes with the word for a success. */
const failures = {
  completed: 'failed',
  complete: 'failure',
  done: 'error',
  finished: 'canceled',
  success: 'error',
  SUCCEEDED: 'FAILED',
} as const;
