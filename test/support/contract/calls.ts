import { MediaClient, MessagingClient, type WorkflowCreate } from 'postreel';
import {
  createFakeMedia,
  createFakeMessaging,
  type FakeMedia,
  type FakeMessaging,
} from 'postreel/testing';
import { samples } from './samples.js';

/** The ids in the path of a call to the fake, by name. */
export type Ids = Readonly<Record<string, string>>;

/** A fake with something of everything in it. */
export interface CallWorld {
  readonly fake: FakeMessaging | FakeMedia;
  readonly apiKey: string;
  readonly client: MessagingClient | MediaClient;
  readonly ids: Ids;
}

const strict = { validation: { responses: 'throw' }, retries: 0 } as const;

/** A fresh fake of a service, with one of each thing that a path can name. */
export function callWorld(service: string): Promise<CallWorld> {
  return service === 'media' ? mediaWorld() : messagingWorld();
}

async function messagingWorld(): Promise<CallWorld> {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
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
  return { fake, apiKey: fake.secretKey, client: messaging, ids };
}

async function mediaWorld(): Promise<CallWorld> {
  const fake = createFakeMedia();
  const options = { apiKey: fake.apiKey, baseUrl: fake.baseUrl, fetch: fake.fetch };
  const media = new MediaClient({ ...options, rateLimit: false, ...strict });
  const { fileId } = await media.generate.audio(body('media.generate.audio'));
  return { fake, apiKey: fake.apiKey, client: media, ids: { fileId } };
}

/** The body of a sample; each was checked against its method's type by the requests it passes. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names it
function body<Body>(sdk: string): Body {
  const name = sdk.startsWith('media.') ? sdk : `messaging.${sdk}`;
  return samples[name]?.body as Body;
}

/** The id that a parameter of a method's path contains. */
export function idFor(ids: Ids, sdk: string, name: string): string {
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

/** The body or the query of a method, fitting the world. */
export function inputFor(sdk: string, ids: Ids): unknown {
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
