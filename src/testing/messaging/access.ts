import { Refusal } from '../core/http.js';
import type { FakeRequest } from '../core/types.js';
import { forbidden, notFound } from './resource.js';
import type { MessagingWorld, Project, Scope, User } from './state.js';

/** The name of the session cookie; the document does not give it. */
export const sessionCookie = 'token';

/** Decides who calls: messaging, Authentication 1 to 7. */
export function enter(world: MessagingWorld, request: FakeRequest, endpoint: string): Scope {
  const access = accessTo(endpoint);
  if (access === 'none') {
    return scopeOf(world, undefined, undefined);
  }
  const key = bearerKey(request);
  const takesKey = access !== 'account' || world.settings.accountAccess === 'key-or-session';
  if (key !== undefined && takesKey) {
    return enterWithKey({ world, request, access }, key);
  }
  const user = access === 'account' ? sessionUser(world, request) : undefined;
  if (user === undefined) {
    throw unauthorized('No API key was given.');
  }
  return enterWithSession(world, request, user);
}

/** messaging, Limits: requests are counted per project. */
export function rateLimitBucket(world: MessagingWorld, request: FakeRequest): string | undefined {
  const project = projectByKey(world, bearerKey(request) ?? '');
  return project?.id ?? sessionUser(world, request)?.id;
}

/** The user of the session cookie, if it is a valid one. */
export function sessionUser(world: MessagingWorld, request: FakeRequest): User | undefined {
  const userId = world.sessions.get(sessionToken(request) ?? '');
  return userId === undefined ? undefined : world.users.get(userId);
}

export function sessionToken(request: FakeRequest): string | undefined {
  const cookies = (request.headers.get('cookie') ?? '').split(';').map((part) => part.trim());
  const cookie = cookies.find((part) => part.startsWith(`${sessionCookie}=`));
  return cookie?.slice(sessionCookie.length + 1);
}

function unauthorized(message: string): Refusal {
  return new Refusal(401, 'UNAUTHORIZED', message, {
    suggestion: 'Send `Authorization: Bearer <API_KEY>` with a key of the project.',
  });
}

type Access = 'none' | 'track' | 'account' | 'secret';

/** messaging, Authentication 2, 3 and 6. */
function accessTo(endpoint: string): Access {
  if (endpoint === 'POST /v1/track') {
    return 'track';
  }
  const path = endpoint.slice(endpoint.indexOf(' ') + 1);
  if (path === '/config' || path.startsWith('/auth/')) {
    return 'none';
  }
  return path.startsWith('/users/@me') || path.startsWith('/projects/') ? 'account' : 'secret';
}

function bearerKey(request: FakeRequest): string | undefined {
  return /^Bearer\s+(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
}

/** messaging, Authentication 4: the project is derived from the key. */
function projectByKey(world: MessagingWorld, key: string): Project | undefined {
  for (const project of world.projects.values()) {
    if (project.secretKey === key || project.publicKey === key) {
      return project;
    }
  }
  return undefined;
}

interface AccessCall {
  readonly world: MessagingWorld;
  readonly request: FakeRequest;
  readonly access: Access;
}

function enterWithKey({ world, request, access }: AccessCall, key: string): Scope {
  const project = projectByKey(world, key);
  if (project === undefined) {
    throw unauthorized('The API key is invalid.');
  }
  // Whether that is an invalid key or an unauthorized resource is not shown.
  if (key === project.publicKey && access !== 'track') {
    throw new Refusal(401, 'PUBLIC_KEY', 'A public key is accepted only by POST /v1/track.');
  }
  const named = access === 'account' ? request.params.id : undefined;
  if (named !== undefined && named !== project.id) {
    if (!world.projects.has(named)) {
      throw notFound(named);
    }
    throw forbidden('The key belongs to another project.');
  }
  // The document does not show the user of a secret key: the key acts for the project's owner.
  return scopeOf(world, project, world.users.get(project.members[0]?.userId ?? ''));
}

function enterWithSession(world: MessagingWorld, request: FakeRequest, user: User): Scope {
  const { id } = request.params;
  const isMember = (project: Project) => project.members.some(({ userId }) => userId === user.id);
  if (id === undefined) {
    return scopeOf(world, [...world.projects.values()].find(isMember), user);
  }
  const project = world.projects.get(id);
  if (project === undefined) {
    throw notFound(id);
  }
  if (!isMember(project)) {
    throw forbidden('You are not a member of this project.');
  }
  return scopeOf(world, project, user);
}

function scopeOf(
  world: MessagingWorld,
  project: Project | undefined,
  user: User | undefined,
): Scope {
  if (project?.isDisabled === true) {
    throw new Refusal(403, 'PROJECT_DISABLED', 'The project is disabled.');
  }
  return {
    world,
    ...(user !== undefined && { user }),
    // Calls without a key and users without a project never get to read it.
    get project() {
      if (project === undefined) {
        throw forbidden('This needs a project.');
      }
      return project;
    },
  };
}
