import type { mediaBehaviors, messagingBehaviors } from '../../src/testing/index.js';

/** A setting of one of the fakes. */
export type SettingName = keyof typeof messagingBehaviors | keyof typeof mediaBehaviors;

/** A record that the documents leave open. */
export interface OpenRecordRow {
  /** The exported type. */
  readonly name: string;
  readonly what: string;
  /** Where the document leaves it open. */
  readonly silent: string;
  /** In which settings of the fakes it differs. */
  readonly settings: readonly [SettingName, ...SettingName[]];
}

const last = 'Endpoints, last line';

/** Every open record, by the headings of the page. */
export const openRecords: Readonly<Record<string, readonly OpenRecordRow[]>> = {
  Shared: [
    {
      name: 'OpenRecord',
      what: 'the base of all of these',
      silent: '"not shown" throughout',
      settings: ['openFields', 'extraFields'],
    },
    {
      name: 'Acknowledgement',
      what: 'the answer of a call that has nothing to say',
      silent: last,
      settings: ['acknowledgements'],
    },
    { name: 'ListQuery', what: 'the query of a list', silent: last, settings: ['listStyle'] },
    {
      name: 'PeriodQuery',
      what: 'the query of a report; `startDate` and `endDate` are our names',
      silent: last,
      settings: ['periods'],
    },
    {
      name: 'FilterGroup',
      what: 'a filter of more than one element',
      silent: 'Custom fields 8; Segment, `condition`; Campaign, `audienceFilter`',
      settings: ['unset'],
    },
  ],
  Contacts: [
    {
      name: 'ContactLookupResult',
      what: 'the answer of `contacts.lookup()`',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'JobStarted',
      what: 'a queued job; `jobId` is shown',
      silent: 'Contacts, `POST /contacts/import`',
      settings: ['envelopes', 'openFields'],
    },
    {
      name: 'ImportJob',
      what: 'an import job',
      silent: 'Domains and jobs, last line',
      settings: ['jobStatusField', 'jobWords', 'jobProgress', 'openFields'],
    },
    {
      name: 'BulkJob',
      what: 'a bulk job',
      silent: 'Domains and jobs, last line',
      settings: ['jobStatusField', 'jobWords', 'jobProgress', 'openFields'],
    },
    {
      name: 'FieldValues',
      what: 'the distinct values of a field',
      silent: 'Custom fields 10',
      settings: ['openFields'],
    },
    {
      name: 'FieldUsage',
      what: 'where a field is used',
      silent: 'Custom fields 10',
      settings: ['openFields'],
    },
  ],
  Templates: [
    {
      name: 'Template',
      what: 'a template',
      silent: 'Template, "Other template fields: not shown"',
      settings: ['unset', 'openFields', 'extraFields'],
    },
    {
      name: 'TemplateCreate',
      what: 'a template to make',
      silent: 'Template, "Other template fields: not shown"',
      settings: ['unset'],
    },
    {
      name: 'TemplateUpdate',
      what: 'what to change about a template',
      silent: 'Template, "Other template fields: not shown"',
      settings: ['unset'],
    },
    {
      name: 'DuplicatedTemplate',
      what: 'the copy; its `id` is shown',
      silent: 'Templates, `POST /templates/{id}/duplicate`',
      settings: ['openFields'],
    },
    {
      name: 'TemplateUsage',
      what: 'where a template is used',
      silent: last,
      settings: ['openFields'],
    },
  ],
  Campaigns: [
    {
      name: 'Campaign',
      what: 'a campaign',
      silent: 'Campaigns, "Create response shown as"',
      settings: ['unset', 'openFields', 'extraFields'],
    },
    {
      name: 'CreatedCampaign',
      what: 'a campaign that was just made',
      silent: 'Campaigns, "Create response shown as"',
      settings: ['openFields'],
    },
    { name: 'CampaignQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    {
      name: 'CampaignStats',
      what: 'the counts of a campaign',
      silent: 'Campaign, "exact field names: not shown"',
      settings: ['openFields'],
    },
  ],
  Segments: [
    {
      name: 'Segment',
      what: 'a segment',
      silent: last,
      settings: ['unset', 'openFields', 'extraFields'],
    },
    {
      name: 'CountedSegment',
      what: 'a segment with its `memberCount`',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'SegmentMember',
      what: 'a member: the fields of a contact, and more if need be',
      silent: 'Segments, `GET /segments/{id}/contacts`',
      settings: ['emptyData', 'extraFields'],
    },
    {
      name: 'SegmentMembersChange',
      what: 'what became of members that were added or removed',
      silent: last,
      settings: ['acknowledgements', 'openFields'],
    },
    {
      name: 'SegmentComputation',
      what: 'the answer of `segments.compute()`',
      silent: last,
      settings: ['acknowledgements', 'openFields'],
    },
    {
      name: 'SegmentRefresh',
      what: 'the answer of `segments.refresh()`',
      silent: last,
      settings: ['acknowledgements', 'openFields'],
    },
  ],
  Workflows: [
    {
      name: 'Workflow',
      what: 'a workflow',
      silent: 'Workflow, last line',
      settings: ['unset', 'openFields', 'extraFields'],
    },
    {
      name: 'WorkflowGraph',
      what: 'a workflow with its steps and transitions',
      silent: 'Workflow, last line',
      settings: ['workflowStart', 'transitionsIn', 'openFields', 'extraFields'],
    },
    {
      name: 'WorkflowCreate',
      what: 'a workflow to make',
      silent: last,
      settings: ['enabledOnCreate'],
    },
    {
      name: 'WorkflowUpdate',
      what: 'what to change about a workflow',
      silent: last,
      settings: ['unset'],
    },
    { name: 'WorkflowQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    {
      name: 'WorkflowFields',
      what: 'the fields that conditions may use',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'WorkflowStep',
      what: 'a step',
      silent: 'Workflow, last line',
      settings: ['openFields'],
    },
    {
      name: 'StepConfig',
      what: 'how a step does what it does',
      silent: 'Workflow, last line',
      settings: ['unset'],
    },
    {
      name: 'StepCreate',
      what: 'a step to add',
      silent: 'Workflow, last line',
      settings: ['stepConnection'],
    },
    {
      name: 'StepUpdate',
      what: 'what to change about a step',
      silent: 'Workflow, last line',
      settings: ['unset'],
    },
    {
      name: 'WorkflowTransition',
      what: 'a transition',
      silent: 'Workflow, last line',
      settings: ['branchIn', 'openFields'],
    },
    {
      name: 'TransitionCreate',
      what: 'a transition to add',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'WorkflowExecution',
      what: 'an execution',
      silent: 'Workflow, last line; Workflow and executions, last line',
      settings: ['stateWords', 'openFields'],
    },
    {
      name: 'ExecutionStart',
      what: 'an execution to start',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'ExecutionContext',
      what: 'the variables of an execution',
      silent: 'Workflow, "optional `context` JSON object"',
      settings: ['unset'],
    },
    {
      name: 'ExecutionQuery',
      what: 'the query of the list',
      silent: last,
      settings: ['stateWords', 'listStyle'],
    },
  ],
  'Emails and events': [
    {
      name: 'Attachment',
      what: 'a file that goes with an email',
      silent: 'POST /v1/send, `attachments`',
      settings: ['requestNames'],
    },
    {
      name: 'TrackedEvent',
      what: 'a tracked event',
      silent: 'Event, "Event record fields: not shown"',
      settings: ['openFields'],
    },
    { name: 'EventQuery', what: 'the query of the lists', silent: last, settings: ['periods'] },
    {
      name: 'TrackRequest',
      what: 'what is required, and other fields',
      silent: 'POST /v1/track',
      settings: ['requestNames'],
    },
    {
      name: 'EventStatsQuery',
      what: 'the query of the numbers',
      silent: last,
      settings: ['periods'],
    },
    { name: 'EventStats', what: 'numbers about events', silent: last, settings: ['openFields'] },
    { name: 'EventNames', what: 'the distinct names', silent: last, settings: ['openFields'] },
    { name: 'EventUsage', what: 'where an event is used', silent: last, settings: ['openFields'] },
  ],
  'Domains, activity, analytics, uploads, configuration': [
    {
      name: 'Domain',
      what: 'a domain',
      silent: 'Domain, "Domain record fields: not shown"',
      settings: ['openFields'],
    },
    { name: 'DomainCreate', what: 'a domain to add', silent: last, settings: ['requestNames'] },
    { name: 'DomainQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    {
      name: 'DomainVerification',
      what: 'the outcome of a check',
      silent: 'Domain, "Domain record fields: not shown"',
      settings: ['openFields'],
    },
    {
      name: 'ActivityEntry',
      what: 'one entry of the feed',
      silent: 'Events 4 and 5',
      settings: ['eventNames', 'openFields'],
    },
    { name: 'ActivityQuery', what: 'the query of the feed', silent: last, settings: ['periods'] },
    {
      name: 'ActivityPeriod',
      what: 'the query of the numbers',
      silent: last,
      settings: ['periods'],
    },
    {
      name: 'ActivityStats',
      what: 'numbers about the activity',
      silent: last,
      settings: ['eventNames', 'openFields'],
    },
    {
      name: 'ActivityCount',
      what: 'how much happened lately',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'ActivityTypes',
      what: 'the distinct types',
      silent: 'Events 4',
      settings: ['eventNames', 'openFields'],
    },
    {
      name: 'UpcomingActivity',
      what: 'what is to come',
      silent: last,
      settings: ['stateWords', 'openFields'],
    },
    {
      name: 'AnalyticsQuery',
      what: 'the query of the reports',
      silent: last,
      settings: ['periods'],
    },
    {
      name: 'Timeseries',
      what: 'sends, opens and clicks over time',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'TopCampaigns',
      what: 'the best campaigns',
      silent: last,
      settings: ['stateWords', 'openFields'],
    },
    {
      name: 'CampaignBreakdown',
      what: 'the numbers of each campaign',
      silent: last,
      settings: ['stateWords', 'openFields'],
    },
    { name: 'TopEvents', what: 'the most frequent events', silent: last, settings: ['openFields'] },
    {
      name: 'UploadedImage',
      what: 'an image with its URL',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'ServiceConfig',
      what: 'which integrations are on',
      silent: last,
      settings: ['openFields'],
    },
  ],
  'Accounts and projects': [
    { name: 'Credentials', what: 'who signs in or up', silent: last, settings: ['requestNames'] },
    {
      name: 'SignedIn',
      what: 'who signed in or up',
      silent: last,
      settings: ['accountAccess', 'openFields'],
    },
    { name: 'OAuthConfig', what: 'the sign-in providers', silent: last, settings: ['openFields'] },
    {
      name: 'EmailVerification',
      what: 'the token of a verification mail',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'ContactLookup',
      what: 'the emails to look up; `emails` is our name',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'ContactSelection',
      what: 'the contacts of a bulk call; `contactIds` is our name',
      silent: last,
      settings: ['requestNames'],
    },
    { name: 'AccountEmail', what: 'who wants a mail', silent: last, settings: ['requestNames'] },
    {
      name: 'PasswordReset',
      what: 'the token of a reset mail and the new password',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'User',
      what: 'the current user',
      silent: last,
      settings: ['accountAccess', 'openFields'],
    },
    { name: 'Project', what: 'a project', silent: last, settings: ['accountAccess', 'openFields'] },
    { name: 'ProjectQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    { name: 'ProjectCreate', what: 'a project to make', silent: last, settings: ['requestNames'] },
    {
      name: 'ProjectUpdate',
      what: 'the settings to change',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'ProjectKeys',
      what: 'the new keys',
      silent: last,
      settings: ['accountAccess', 'openFields'],
    },
    {
      name: 'ProjectSecurityReport',
      what: 'rates of bounces and complaints',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'ProjectSecurityState',
      what: 'the state of the security',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'ProjectSetupState',
      what: 'how far the set-up is',
      silent: last,
      settings: ['openFields'],
    },
    {
      name: 'ProjectReset',
      what: 'what a reset may be told',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'CheckoutCreate',
      what: 'what a checkout may be told',
      silent: last,
      settings: ['requestNames'],
    },
    { name: 'CheckoutSession', what: 'a checkout session', silent: last, settings: ['openFields'] },
    {
      name: 'BillingPortalCreate',
      what: 'what the portal may be told',
      silent: last,
      settings: ['requestNames'],
    },
    {
      name: 'BillingPortal',
      what: 'a session of the portal',
      silent: last,
      settings: ['openFields'],
    },
    { name: 'BillingLimits', what: 'the caps', silent: last, settings: ['openFields'] },
    { name: 'BillingConsumption', what: 'what was used', silent: last, settings: ['openFields'] },
    { name: 'Invoice', what: 'an invoice', silent: last, settings: ['openFields'] },
    { name: 'InvoiceQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    { name: 'Member', what: 'a member', silent: last, settings: ['openFields'] },
    { name: 'MemberQuery', what: 'the query of the list', silent: last, settings: ['listStyle'] },
    {
      name: 'MemberInvite',
      what: 'whom to invite',
      silent: 'Authentication 8',
      settings: ['requestNames'],
    },
    {
      name: 'MemberRoleUpdate',
      what: 'the new role',
      silent: 'Authentication 8',
      settings: ['requestNames'],
    },
  ],
  Media: [
    {
      name: 'StatusRecord',
      what: 'the status of a file',
      silent: 'Status record, `progress`; States and transitions',
      settings: ['progress', 'statusField', 'statusWords', 'transitions'],
    },
  ],
};
