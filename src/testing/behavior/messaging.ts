import type { BehaviorOf, Table } from './setting.js';
import { sharedBehaviors } from './shared.js';

/**
 * The points in which services of this kind differ within the messaging document; the first value of each is
 * the default.
 */
export const messagingBehaviors = {
  ...sharedBehaviors,
  unset: {
    values: ['missing', 'null', 'empty'],
    what: 'how an optional field without a value is answered, and may be sent back',
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
    silent: 'General conventions; most lists have no shape of their own',
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
    what: 'whether account endpoints take a key or want a session',
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
    what: 'whether a new step is connected to the one before it unless `autoConnect` is false, and leads to one other only',
    silent: '`POST /workflows/{id}/steps`: "Fields of … step … not shown"',
  },
  transitionsIn: {
    values: ['workflow', 'steps'],
    what: 'whether transitions stand beside the steps of a workflow, or inside each of them',
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
