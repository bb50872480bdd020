import { MediaClient, MessagingClient, type WorkflowCreate } from 'postreel';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/contract/route.js';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { samples } from '../support/contract/samples.js';
import { intercepted } from '../support/msw.js';

/** What a call to the fake needs: the ids of its path, by method, and a body that fits them. */
type Ids = Record<string, string>;

const tables = { messaging: messagingRoutes, media: mediaRoutes };
const strict = { validation: { responses: 'throw' }, retries: 0 } as const;

describe.each(endpoints)('the fake and $sdk', ({ sdk, path, service }) => {
  it('agree on what is asked and answered', async () => {
    const world = service === 'media' ? await mediaWorld() : await messagingWorld();
    const names = sdk.split('.').slice(1);
    const method = names.pop() ?? '';
    const owner = names.reduce<object>(
      (value, key) => Reflect.get(value, key) as object,
      world.client,
    );
    const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
      idFor(world.ids, sdk, name),
    );
    const input = inputFor(sdk, world.ids);
    const args = [...ids, ...(input === undefined ? [] : [input])];
    const call = Reflect.get(owner, method) as (...values: unknown[]) => PromiseLike<unknown>;
    const result = await call.apply(owner, args);
    expect(result !== undefined || answersNothing(sdk)).toBe(true);
    expect(world.last()).toMatchObject({ endpoint: `${world.method(sdk)} ${path}` });
    expect(world.last()?.status).toBeLessThan(300);
  });
});

/** Does the row of a method say that the service answers nothing but its success? */
function answersNothing(sdk: string): boolean {
  const row = sdk
    .split('.')
    .reduce<object>((value, key) => Reflect.get(value, key) as object, tables) as Route;
  return row.returns.list === undefined && row.returns.isNothing === true;
}

async function messagingWorld() {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: intercepted(fake),
    rateLimit: false,
    ...strict,
  });
  const contact = await messaging.contacts.create({
    email: 'cat@example.com',
    data: { plan: 'pro' },
  });
  const template = await messaging.templates.create(body('templates.create'));
  const campaign = await messaging.campaigns.create(body('campaigns.create'));
  const scheduled = await messaging.campaigns.create(body('campaigns.create'));
  await messaging.campaigns.send(scheduled.id, body('campaigns.send'));
  const dynamic = await messaging.segments.create({
    ...body('segments.create'),
    trackMembership: true,
  });
  const fixed = await messaging.segments.create({ name: 'Friends', type: 'STATIC' });
  const workflow = await messaging.workflows.create(body<WorkflowCreate>('workflows.create'));
  const wait = await messaging.workflows.steps.create(workflow.id, {
    type: 'DELAY',
    config: { duration: '1d' },
  });
  const exit = await messaging.workflows.steps.create(workflow.id, { type: 'EXIT' });
  const way = { fromStepId: wait.id, toStepId: exit.id };
  const transition = await messaging.workflows.transitions.create(workflow.id, way);
  await messaging.workflows.update(workflow.id, { enabled: true, allowReentry: true });
  const contactId = contact.id;
  const execution = await messaging.workflows.executions.start(workflow.id, { contactId });
  await messaging.track({ email: 'cat@example.com', event: 'signed_up' });
  const imported = await messaging.contacts.import({ data: 'email\nbob@example.com\n' });
  const bulk = await messaging.contacts.bulkSubscribe({ contactIds: [contactId] });
  const domain = await messaging.domains.create({ domain: 'news.example.org' });
  const empty = await messaging.workflows.create({ name: 'Empty' });
  const projectId = fake.project.id;
  const member = await messaging.projects.members.invite(projectId, { email: 'bob@example.com' });
  await messaging.auth.signup({ email: 'dan@example.com', password: 'secret' });
  await messaging.auth.requestPasswordReset({ email: fake.owner.email });
  const tokens = fake.world.mailedTokens;
  const ids: Ids = {
    verifyToken: tokens[0]?.token ?? '',
    resetToken: tokens.at(-1)?.token ?? '',
    password: fake.owner.password,
    contactId,
    templateId: template.id,
    campaignId: campaign.id,
    scheduledId: scheduled.id,
    dynamicId: dynamic.id,
    staticId: fixed.id,
    workflowId: workflow.id,
    emptyId: empty.id,
    stepId: wait.id,
    exitId: exit.id,
    transitionId: transition.id,
    executionId: execution.id,
    importId: imported.jobId,
    bulkId: bulk.jobId,
    domainId: domain.id,
    projectId,
    userId: String(member['userId'] ?? member['id']),
  };
  return { client: messaging, ids, last: () => fake.requests.at(-1), method: methodOf };
}

async function mediaWorld() {
  const fake = createFakeMedia();
  const options = { apiKey: fake.apiKey, baseUrl: fake.baseUrl, fetch: intercepted(fake) };
  const media = new MediaClient({ ...options, rateLimit: false, ...strict });
  const { fileId } = await media.generate.audio(body('media.generate.audio'));
  return { client: media, ids: { fileId }, last: () => fake.requests.at(-1), method: methodOf };
}

function methodOf(sdk: string): string {
  return endpoints.find((endpoint) => endpoint.sdk === sdk)?.method ?? '';
}

/** The body of a sample; each was checked against its method's type by the requests it passes. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names it
function body<Body>(sdk: string): Body {
  const name = sdk.startsWith('media.') ? sdk : `messaging.${sdk}`;
  return samples[name]?.body as Body;
}

function idFor(ids: Ids, sdk: string, name: string): string {
  const [, resource = '', ...rest] = sdk.split('.');
  const method = rest.at(-1) ?? '';
  const special: Record<string, string | undefined> = {
    field: 'data.plan',
    eventName: 'signed_up',
    contactId: ids['contactId'],
    jobId: method === 'getImport' ? ids['importId'] : ids['bulkId'],
    stepId: ids['stepId'],
    transitionId: ids['transitionId'],
    executionId: ids['executionId'],
    userId: ids['userId'],
    projectId: ids['projectId'],
  };
  if (name !== 'id') {
    return special[name] ?? '';
  }
  const own: Record<string, string | undefined> = {
    contacts: ids['contactId'],
    templates: ids['templateId'],
    campaigns: method === 'cancel' ? ids['scheduledId'] : ids['campaignId'],
    segments: rest[0] === 'members' && method !== 'list' ? ids['staticId'] : ids['dynamicId'],
    workflows: method === 'delete' && rest.length === 1 ? ids['emptyId'] : ids['workflowId'],
    domains: ids['domainId'],
    projects: ids['projectId'],
  };
  return own[resource] ?? '';
}

function inputFor(sdk: string, ids: Ids): unknown {
  const { contactId = '', stepId = '', exitId = '', fileId = '' } = ids;
  const fitting: Record<string, unknown> = {
    'messaging.contacts.bulkSubscribe': { contactIds: [contactId] },
    'messaging.contacts.bulkUnsubscribe': { contactIds: [contactId] },
    'messaging.contacts.bulkDelete': { contactIds: [contactId] },
    'messaging.workflows.transitions.create': { fromStepId: exitId, toStepId: stepId },
    'messaging.workflows.executions.start': { contactId },
    'messaging.auth.login': { email: 'owner@example.com', password: ids['password'] },
    'messaging.auth.verifyEmail': { token: ids['verifyToken'] },
    'messaging.auth.resetPassword': { token: ids['resetToken'], password: 'another secret' },
    'messaging.projects.members.invite': { email: 'eve@example.com', role: 'MEMBER' },
    'media.generate.status': { fileId },
  };
  return fitting[sdk] ?? samples[sdk]?.body ?? samples[sdk]?.query;
}
