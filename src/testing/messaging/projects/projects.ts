import type { FakeAnswer, FakeRequest, Handlers } from '../../core/types.js';
import { sessionUser } from '../access.js';
import { forbidden } from '../find.js';
import { listAnswer } from '../lists.js';
import type { Project, Scope } from '../state.js';
import { readBody } from '../validate.js';
import { addProject, rotateKeys, wipe } from './project.js';

/** The bodies of these endpoints are not shown. */
export const projectHandlers: Handlers<Scope> = {
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
};

/** A session sees every project of its user, a key its own. */
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
  const name = readBody(request, (fields) => fields.requiredText('name'));
  return { status: 201, body: view(addProject(world, name, user)) };
}

function update(request: FakeRequest, { project }: Scope): FakeAnswer {
  const { name, settings } = readBody(request, (fields) => ({
    name: fields.has('name') ? fields.requiredText('name') : project.name,
    settings: fields.record('settings'),
  }));
  project.name = name;
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
