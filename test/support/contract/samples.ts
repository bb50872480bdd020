/** The body or the query of a call, as the documents allow it. */
export interface Sample {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, unknown>>;
}

const soon = new Date(Date.now() + 3_600_000).toISOString();
const send = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const template = { name: 'Welcome', subject: 'Hi', body: '<p>Hi</p>', type: 'TRANSACTIONAL' };
const campaign = {
  name: 'Spring',
  subject: 'Hi',
  body: '<p>Hi</p>',
  from: 'shop@example.com',
  audienceType: 'ALL',
};
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' };
const selection = { contactIds: ['contact_1'] };
const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'voice_1' };

/** One sample for each method that takes a body or a query. */
export const samples: Readonly<Record<string, Sample>> = {
  'messaging.send': { body: send },
  'messaging.track': { body: { email: 'ann@example.com', event: 'signed_up' } },
  'messaging.verify': { body: { email: 'ann@example.com' } },
  'messaging.contacts.list': { query: { limit: 5, search: '@example.com' } },
  'messaging.contacts.create': { body: { email: 'ann@example.com', data: { plan: 'pro' } } },
  'messaging.contacts.update': { body: { data: { plan: null } } },
  'messaging.contacts.lookup': { body: { emails: ['ann@example.com'] } },
  'messaging.contacts.import': {
    body: { data: 'email\nann@example.com\n', filename: 'contacts.csv' },
  },
  'messaging.contacts.bulkSubscribe': { body: selection },
  'messaging.contacts.bulkUnsubscribe': { body: selection },
  'messaging.contacts.bulkDelete': { body: selection },
  'messaging.templates.list': { query: { limit: 5, type: 'MARKETING' } },
  'messaging.templates.create': { body: template },
  'messaging.templates.update': { body: { name: 'Hello' } },
  'messaging.campaigns.list': { query: {} },
  'messaging.campaigns.create': { body: campaign },
  'messaging.campaigns.replace': { body: campaign },
  'messaging.campaigns.send': { body: { scheduledFor: soon } },
  'messaging.campaigns.sendTest': { body: { email: 'ann@example.com' } },
  'messaging.segments.create': { body: { name: 'Pros', type: 'DYNAMIC', condition } },
  'messaging.segments.update': { body: { name: 'Professionals' } },
  'messaging.segments.members.list': { query: { page: 1, pageSize: 5 } },
  'messaging.segments.members.add': { body: { emails: ['ann@example.com'], createMissing: true } },
  'messaging.segments.members.remove': { body: { emails: ['ann@example.com'] } },
  'messaging.workflows.list': { query: {} },
  'messaging.workflows.create': { body: { name: 'Welcome', eventName: 'signed_up' } },
  'messaging.workflows.update': { body: { enabled: true } },
  'messaging.workflows.steps.create': { body: { type: 'EXIT', name: 'End' } },
  'messaging.workflows.steps.update': { body: { name: 'The end' } },
  'messaging.workflows.steps.delete': { query: { splice: true } },
  'messaging.workflows.transitions.create': { body: { fromStepId: 'step_1', toStepId: 'step_2' } },
  'messaging.workflows.executions.start': { body: { contactId: 'contact_1' } },
  'messaging.workflows.executions.list': { query: { status: 'RUNNING', page: 1 } },
  'messaging.events.track': { body: { email: 'ann@example.com', event: 'signed_up' } },
  'messaging.events.list': { query: { limit: 5 } },
  'messaging.events.stats': { query: { startDate: '2026-01-01T00:00:00.000Z' } },
  'messaging.events.listForContact': { query: {} },
  'messaging.domains.create': { body: { domain: 'shop.example.com' } },
  'messaging.activity.list': { query: { limit: 5 } },
  'messaging.activity.stats': { query: {} },
  'messaging.activity.recentCount': { query: {} },
  'messaging.activity.upcoming': { query: {} },
  'messaging.analytics.timeseries': { query: {} },
  'messaging.analytics.topCampaigns': { query: {} },
  'messaging.analytics.campaignStats': { query: {} },
  'messaging.analytics.topEvents': { query: {} },
  'messaging.uploads.image': {
    body: { data: new Uint8Array([137, 80, 78, 71]), filename: 'a.png', contentType: 'image/png' },
  },
  'messaging.auth.login': { body: { email: 'owner@example.com', password: 'secret' } },
  'messaging.auth.signup': { body: { email: 'new@example.com', password: 'secret' } },
  'messaging.auth.verifyEmail': { body: { token: 'token_1' } },
  'messaging.auth.requestVerification': { body: { email: 'owner@example.com' } },
  'messaging.auth.requestPasswordReset': { body: { email: 'owner@example.com' } },
  'messaging.auth.resetPassword': { body: { token: 'token_1', password: 'secret2' } },
  'messaging.projects.list': { query: {} },
  'messaging.projects.create': { body: { name: 'Shop' } },
  'messaging.projects.update': { body: { name: 'Store' } },
  'messaging.projects.billing.setLimits': { body: { transactional: 1000 } },
  'messaging.projects.members.invite': { body: { email: 'bob@example.com', role: 'ADMIN' } },
  'messaging.projects.members.updateRole': { body: { role: 'MEMBER' } },
  'media.generate.video': { body: { payload: [video] } },
  'media.generate.audio': { body: { content: 'Hello', voiceId: 'voice_1' } },
  'media.generate.status': { query: { fileId: 'file_1' } },
};
