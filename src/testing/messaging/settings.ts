import {
  amount,
  atLeast,
  callback,
  flag,
  group,
  milliseconds,
  type OptionKinds,
} from '../../core/options.js';
import { behaviorOf, kindsOf } from '../behavior/setting.js';
import { messagingBehaviors, type MessagingBehavior } from '../behavior/messaging.js';

/** The settings where the service's document leaves a choice; may be changed at any time. */
export interface MessagingSettings extends MessagingBehavior {
  /** The `DISABLE_SIGNUPS` setting of the service. @default false */
  disableSignups: boolean;
  /** The pace of import and bulk jobs. */
  jobs: JobSettings;
  /** The total of the attachments of a `/v1/send`. @default 10 MB */
  maxAttachmentBytes: number;
  /** Makes the calls of WEBHOOK steps. If omitted, they are recorded with a 200 response and not sent. */
  webhookFetch?: typeof fetch;
}

/** The pace of import and bulk jobs, and how long they are kept. */
export interface JobSettings {
  /** Number of rows or contacts that a job handles per second of the clock. @default 1000 */
  perSecond: number;
  /** After how many milliseconds a finished job is forgotten (404). @default Infinity */
  keepMs: number;
}

const jobKinds: OptionKinds<JobSettings> = {
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

/** The settings of a fake with these options; all other settings as documented. */
export function settingsOf(given: SettingsOptions): MessagingSettings {
  const { behavior, jobs, disableSignups, maxAttachmentBytes, webhookFetch } = given;
  const world = behaviorOf(messagingBehaviors, { ...behavior, ...behaviorIn(given) });
  return {
    ...world,
    disableSignups: disableSignups ?? false,
    // messaging, Limits: 10 MB by default.
    maxAttachmentBytes: maxAttachmentBytes ?? 10 * 1024 * 1024,
    ...(webhookFetch && { webhookFetch }),
    jobs: { perSecond: 1000, keepMs: Infinity, ...jobs },
  };
}

/** Picks the settings of a world that are next to `behavior` in the options. */
function behaviorIn(given: object): Partial<MessagingBehavior> {
  const entries = Object.entries(given).filter(
    ([name, value]) => name in messagingBehaviors && value !== undefined,
  );
  return Object.fromEntries(entries); // entries lose their types
}
