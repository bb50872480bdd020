import { email, filled, optional, record, required, text } from '../core/checks.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { sessionUser } from './access.js';
import { addUser, userByEmail } from './auth.js';
import { listAnswer } from './lists.js';
import { bodyOf, forbidden, isoNow, notFound, readBody, stateConflict } from './resource.js';
import type { Member, MessagingWorld, Project, Scope, SentEmail, User } from './state.js';

/** The bodies of these endpoints and the values of roles are not shown: any text is a role. */
export const handlers: Handlers<Scope> = {
  'GET /users/@me/projects': list,
  'POST /users/@me/projects': create,
  'PATCH /users/@me/projects/{id}': update,
  'DELETE /users/@me/projects/{id}': remove,
  'POST /users/@me/projects/{id}/regenerate-keys': regenerateKeys,
  'POST /users/@me/projects/{id}/reset': reset,
  'GET /users/@me/projects/{id}/security': (_request, { project }) => ({ body: risks(project) }),
  'GET /projects/{id}/security': (_request, { project }) => ({
    body: { isDisabled: project.isDisabled, ...risks(project) },
  }),
  'GET /projects/{id}/setup-state': (_request, { project }) => ({ body: setupState(project) }),

  'POST /users/@me/projects/{id}/checkout': (_request, scope) => ({
    body: { url: `https://payments.messaging.fake/checkout/${scope.world.id('session')}` },
  }),
  'POST /users/@me/projects/{id}/billing-portal': (_request, scope) => ({
    body: { url: `https://payments.messaging.fake/portal/${scope.world.id('session')}` },
  }),
  'GET /users/@me/projects/{id}/billing-limits': (_request, { project }) => ({
    body: project.billingLimits,
  }),
  'PUT /users/@me/projects/{id}/billing-limits': setLimits,
  'GET /users/@me/projects/{id}/billing-consumption': consumption,
  'GET /users/@me/projects/{id}/billing-invoices': () => ({ body: [] }),

  'GET /projects/{id}/members': listMembers,
  'POST /projects/{id}/members': invite,
  'PATCH /projects/{id}/members/{userId}': updateRole,
  'DELETE /projects/{id}/members/{userId}': removeMember,
};

/** A session lists every project of its user; a key lists only its project. */
function list(request: FakeRequest, scope: Scope): FakeAnswer {
  const items = [...scope.world.projects.values()].filter((project) =>
    sessionUser(scope.world, request) === undefined
      ? project === scope.project
      : project.members.some(({ userId }) => userId === scope.user?.id),
  );
  return listAnswer(scope, request, { items: items.map(view), name: 'projects', style: 'array' });
}

function create(request: FakeRequest, { world, user }: Scope): FakeAnswer {
  if (user === undefined) {
    throw forbidden('The project has no owner.');
  }
  const { name } = readBody(request, { name: required(filled()) });
  return { status: 201, body: view(addProject(world, name, user)) };
}

function update(request: FakeRequest, { project }: Scope): FakeAnswer {
  const { name, settings } = readBody(request, { name: filled(), settings: record });
  project.name = name ?? project.name;
  Object.assign(project.settings, settings);
  return { body: view(project) };
}

function remove(_request: FakeRequest, { world, project }: Scope): FakeAnswer {
  world.projects.delete(project.id);
  return { status: 204 };
}

function regenerateKeys(_request: FakeRequest, { world, project }: Scope): FakeAnswer {
  rotateKeys(world, project);
  return { body: view(project) };
}

function reset(_request: FakeRequest, { project }: Scope): FakeAnswer {
  wipe(project);
  return { body: { success: true } };
}

function view({ id, name, secretKey, publicKey, settings, isDisabled, createdAt }: Project) {
  return { id, name, secretKey, publicKey, settings, isDisabled, createdAt };
}

/** messaging, Account: bounce and complaint rates, recent suspensions. */
function risks({ outbox }: Project) {
  const share = (count: number) => count / Math.max(1, outbox.length);
  return {
    bounceRate: share(outbox.filter(({ bouncedAt }) => bouncedAt !== undefined).length),
    complaintRate: share(outbox.filter(({ complainedAt }) => complainedAt !== undefined).length),
    suspensions: [],
  };
}

function setupState({ domains, contacts, outbox }: Project) {
  const hasVerifiedDomain = [...domains.values()].some(({ status }) => status === 'verified');
  const hasContacts = contacts.size > 0;
  const hasSentEmail = outbox.length > 0;
  const isComplete = hasVerifiedDomain && hasContacts && hasSentEmail;
  return { hasVerifiedDomain, hasContacts, hasSentEmail, isComplete };
}

/** A new project of a user, with `example.com` as a verified domain to send from. */
export function addProject(world: MessagingWorld, name: string, owner: User): Project {
  const project: Project = {
    id: world.id('prj'),
    name,
    secretKey: world.key('sk'),
    publicKey: world.key('pk'),
    isDisabled: false,
    settings: {},
    createdAt: isoNow({ world }),
    members: [{ userId: owner.id, email: owner.email, role: 'OWNER' }],
    billingLimits: {},
    ...emptyProject(),
  };
  world.projects.set(project.id, project);
  addVerifiedDomain(world, project);
  return project;
}

/** messaging, Authentication 5: both keys at once. */
function rotateKeys(world: MessagingWorld, project: Project): void {
  project.secretKey = world.key('sk');
  project.publicKey = world.key('pk');
}

/** The irreversible data wipe: name, keys, members and domains stay (what goes is not shown). */
function wipe(project: Project): void {
  const { contacts, contactIds, fieldTypes, templates, campaigns, segments, workflows } = project;
  for (const map of [contacts, contactIds, fieldTypes, templates, campaigns]) {
    map.clear();
  }
  for (const map of [segments, workflows, project.jobs, project.uploads]) {
    map.clear();
  }
  for (const list of [project.events, project.activity, project.outbox, project.webhooks]) {
    list.length = 0;
  }
}

function emptyProject() {
  return {
    contacts: new Map(),
    contactIds: new Map(),
    fieldTypes: new Map(),
    templates: new Map(),
    campaigns: new Map(),
    segments: new Map(),
    workflows: new Map(),
    domains: new Map(),
    jobs: new Map(),
    uploads: new Map(),
    events: [],
    activity: [],
    outbox: [],
    dns: new Set<string>(),
    webhooks: [],
  };
}

function addVerifiedDomain(world: MessagingWorld, project: Project): void {
  const id = world.id('dom');
  const now = isoNow({ world });
  project.domains.set(id, {
    id,
    projectId: project.id,
    domain: 'example.com',
    status: 'verified',
    createdAt: now,
    verifiedAt: now,
  });
  project.dns.add('example.com');
}

function listMembers(request: FakeRequest, scope: Scope): FakeAnswer {
  const items = scope.project.members.map(memberView);
  return listAnswer(scope, request, { items, name: 'members', style: 'array' });
}

/** Adds a person to the project. A person without an account gets one, and sets its password by a reset. */
function invite(request: FakeRequest, { world, project }: Scope): FakeAnswer {
  const { role, ...sent } = readBody(request, {
    email: required(email),
    role: optional(text, 'MEMBER'),
  });
  const user =
    userByEmail(world, sent.email) ??
    addUser(world, { email: sent.email, password: world.id('secret') });
  if (project.members.some(({ userId }) => userId === user.id)) {
    throw stateConflict(`${sent.email} is a member.`);
  }
  const member = { userId: user.id, email: user.email, role };
  project.members.push(member);
  return { status: 201, body: memberView(member) };
}

function updateRole(request: FakeRequest, scope: Scope): FakeAnswer {
  const member = findMember(request, scope);
  member.role = readBody(request, { role: required(filled()) }).role;
  return { body: memberView(member) };
}

function removeMember(request: FakeRequest, scope: Scope): FakeAnswer {
  const { members } = scope.project;
  members.splice(members.indexOf(findMember(request, scope)), 1);
  return { status: 204 };
}

function findMember({ params }: FakeRequest, { project }: Scope): Member {
  const member = project.members.find(({ userId }) => userId === params.userId);
  if (member === undefined) {
    throw notFound(params.userId ?? '');
  }
  return member;
}

function memberView(member: Member) {
  return { id: member.userId, ...member };
}

/** messaging, Account: per-category caps; PUT replaces them all. */
function setLimits(request: FakeRequest, { project }: Scope): FakeAnswer {
  const limits = bodyOf(request);
  for (const category of Object.keys(project.billingLimits)) {
    Reflect.deleteProperty(project.billingLimits, category);
  }
  Object.assign(project.billingLimits, limits);
  return { body: project.billingLimits };
}

/** The current period is the calendar month. */
function consumption(_request: FakeRequest, { world, project }: Scope): FakeAnswer {
  const month = world.clock.date().toISOString().slice(0, '2026-01'.length);
  const count = (source: SentEmail['source']) =>
    project.outbox.filter((email) => email.source === source && email.sentAt.startsWith(month))
      .length;
  const used = { send: count('send'), campaign: count('campaign'), workflow: count('workflow') };
  return { body: { period: month, ...used } };
}
