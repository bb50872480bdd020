import {
  amount,
  atLeast,
  callback,
  flag,
  group,
  milliseconds,
  type OptionKinds,
} from '../../core/options.js';
import {
  behaviorOf,
  kindsOf,
  sharedBehaviors,
  type BehaviorOf,
  type Table,
} from '../core/settings.js';

/**
 * The points in which services of this kind differ within the messaging document; the first value of each is
 * the default.
 */
export const messagingBehaviors = {
  ...sharedBehaviors,
  unset: {
    values: ['missing', 'null', 'empty'],
    what: 'what an unset optional field looks like in a response, and whether it may be sent back',
    silent: 'Resources: optional fields',
  },
  emptyData: {
    values: ['object', 'null', 'missing'],
    what: 'the `data` of a contact without custom fields',
    silent: 'Contact: `data` is an object',
  },
  openFields: {
    values: ['ours', 'absent'],
    what: 'the fields of answers that the document does not show',
    silent: '"not shown" throughout; Endpoints, last line',
  },
  acknowledgements: {
    values: ['described', 'success', 'empty', 'no-content', 'true'],
    what: 'the answer of a change that has no answer in the document',
    silent: 'Endpoints, last line',
  },
  created: {
    values: [201, 200, 202],
    what: 'the status of a creation',
    silent: 'Endpoints: only `POST /v1/send` has a status, 200',
  },
  listStyle: {
    values: ['documented', 'array', 'named', 'cursor', 'page', 'results'],
    what: 'the shape of lists: as documented, bare, under `data`, their name or another',
    silent: 'General conventions; most lists have no documented shape',
  },
  lastPage: {
    values: ['hasMore-false', 'cursor-null', 'cursor-absent', 'cursor-empty'],
    what: 'how a cursor list ends',
    silent: 'General conventions: the cursor of the last page',
  },
  totals: {
    values: ['first-page', 'every-page', 'absent'],
    what: 'where a cursor list has its `total`',
    silent: 'Limits: given for documented cursor lists alone',
  },
  templatePaging: {
    values: ['page', 'cursor'],
    what: 'whether the page-style list of templates also has a cursor',
    silent: 'Templates: the query takes a `cursor`, the answer shows none',
  },
  errorShape: {
    values: ['envelope', 'legacy', 'bare', 'html', 'empty', 'cut'],
    what: 'the body of a refusal',
    silent: 'Errors: two shapes, and "which error cases return which shape: not shown"',
  },
  jobStatusField: {
    values: ['state', 'status'],
    what: 'the field with the status of a job',
    silent: 'Domains and jobs, last line',
  },
  jobWords: {
    values: ['completed', 'complete', 'done', 'finished', 'success', 'SUCCEEDED'],
    what: 'the words for the end of a job',
    silent: 'Domains and jobs: "Status values of import and bulk jobs: not shown"',
  },
  jobProgress: {
    values: ['percent', 'fraction', 'none'],
    what: 'the unit of the progress of a job',
    silent: 'Domains and jobs, last line',
  },
  accountAccess: {
    values: ['key-or-session', 'session'],
    what: 'whether account endpoints accept a key or require a session',
    silent: 'Authentication 2 and 6',
  },
  workflowStart: {
    values: ['empty', 'trigger-step'],
    what: 'whether a new workflow already holds a step of the type TRIGGER, which leads to the first one',
    silent: '`POST /workflows`: "Fields of workflow … not shown"',
  },
  enabledOnCreate: {
    values: ['ignored', 'honoured'],
    what: 'whether a new workflow is on when `enabled` says so',
    silent: '`POST /workflows`: "Fields of workflow … not shown"',
  },
  stepConnection: {
    values: ['by-hand', 'automatic'],
    what: 'whether a new step is connected to the one before it unless `autoConnect` is false, and may lead to only one other step',
    silent: '`POST /workflows/{id}/steps`: "Fields of … step … not shown"',
  },
  transitionsIn: {
    values: ['workflow', 'steps'],
    what: 'whether transitions are next to the steps of a workflow, or inside each of them',
    silent: '`GET /workflows/{id}`: "with steps and transitions"',
  },
  branchIn: {
    values: ['transition', 'condition'],
    what: 'whether a transition has its `branch` itself, or inside a `condition`',
    silent: '"Fields of … transition … not shown"',
  },
} as const satisfies Table;

/** One world of the messaging service. */
export type MessagingBehavior = BehaviorOf<typeof messagingBehaviors>;

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
  jobs: group(jobKinds),
  disableSignups: flag,
  maxAttachmentBytes: atLeast(0),
  webhookFetch: callback(),
};

/** The settings of a fake with these options; all other settings as documented. */
export function settingsOf(given: SettingsOptions): MessagingSettings {
  const { jobs, disableSignups, maxAttachmentBytes, webhookFetch } = given;
  return {
    ...behaviorOf(messagingBehaviors, given),
    disableSignups: disableSignups ?? false,
    // messaging, Limits: 10 MB by default.
    maxAttachmentBytes: maxAttachmentBytes ?? 10 * 1024 * 1024,
    ...(webhookFetch && { webhookFetch }),
    jobs: { perSecond: 1000, keepMs: Infinity, ...jobs },
  };
}
