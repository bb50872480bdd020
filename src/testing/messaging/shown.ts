import table from '../endpoints.json' with { type: 'json' };

/** The response fields that the messaging document shows, or that a caller needs in any case. */
const contact = ['id', 'email', 'subscribed', 'data', 'createdAt', 'updatedAt', '_meta'];
const job = ['jobId', 'status', 'state', 'progress', 'result', 'failedReason'];
const campaign = [
  'id',
  'name',
  'description',
  'subject',
  'body',
  'from',
  'fromName',
  'replyTo',
  'audienceType',
  'segmentId',
  'audienceFilter',
  'status',
  'scheduledAt',
  'type',
];
const segment = [
  'id',
  'type',
  'name',
  'description',
  'condition',
  'trackMembership',
  'memberCount',
];
const graph = ['steps', 'transitions', 'outgoingTransitions', 'incomingTransitions'];
const workflow = ['id', 'triggerType', 'enabled', 'allowReentry', ...graph];
const account = ['id', 'secretKey', 'publicKey'];

/** By the first part of the path. */
const shown: Readonly<Record<string, readonly string[]>> = {
  contacts: [...contact, ...job, 'fields', 'field', 'type', 'isCustom', 'coverage'],
  templates: ['id', 'name', 'subject', 'body', 'type', 'createdAt', 'from'],
  campaigns: campaign,
  segments: [...segment, ...contact],
  workflows: [...workflow, 'type', 'branch', 'contactId', 'status'],
  events: ['id', 'contact', 'event', 'timestamp', 'names'],
  domains: ['id', 'status'],
  activity: ['id'],
  analytics: [],
  uploads: ['url'],
  config: [],
  auth: account,
  users: account,
  projects: [...account, 'userId'],
};

/** Optional fields that a record may have no value for, by the first part of the path. */
const optional: Readonly<Record<string, readonly string[]>> = {
  templates: ['from', 'fromName', 'replyTo'],
  campaigns: ['description', 'fromName', 'replyTo', 'segmentId', 'audienceFilter'],
  segments: ['description', 'condition'],
  workflows: ['description', 'name', 'branch'],
};

/** Objects have no empty string for a value. */
export const objectFields: ReadonlySet<string> = new Set(['audienceFilter', 'condition']);

/**
 * True if the document shows this field in the responses of this endpoint. The public API is shown
 * completely.
 */
export function isShown(endpoint: string, field: string): boolean {
  const names = shown[roomOf(endpoint)];
  return names === undefined || names.includes(field);
}

/** The optional fields of the records of this endpoint. */
export function optionalFields(endpoint: string): readonly string[] {
  return optional[roomOf(endpoint)] ?? [];
}

/** True if the response of this endpoint is a list. */
export function isList(endpoint: string): boolean {
  return lists.has(endpoint);
}

const lists = new Set(
  table.filter((row) => 'list' in row).map(({ method, path }) => `${method} ${path}`),
);

const roomOf = (endpoint: string) => /\/([\w-]+)/.exec(endpoint)?.[1] ?? '';

/** True for changes whose response the document does not show: no client could use it. */
export function isSilent(endpoint: string): boolean {
  return endpoint.startsWith('DELETE ') || silent.has(endpoint);
}

const silent: ReadonlySet<string> = new Set([
  'PATCH /templates/{id}',
  'PUT /campaigns/{id}',
  'POST /campaigns/{id}/send',
  'POST /campaigns/{id}/cancel',
  'POST /campaigns/{id}/test',
  'PATCH /segments/{id}',
  'POST /segments/{id}/members',
  'POST /segments/{id}/compute',
  'POST /segments/{id}/refresh',
  'PATCH /workflows/{id}',
  'PATCH /workflows/{id}/steps/{stepId}',
  'POST /workflows/{id}/executions/cancel-all',
  'GET /auth/logout',
  'POST /auth/verify-email',
  'POST /auth/request-verification',
  'POST /auth/request-password-reset',
  'POST /auth/reset-password',
  'PATCH /users/@me/projects/{id}',
  'PUT /users/@me/projects/{id}/billing-limits',
  'POST /users/@me/projects/{id}/reset',
  'PATCH /projects/{id}/members/{userId}',
]);
