import { Refusal } from '../core/http.js';
import type { FakeRequest } from '../core/types.js';
import type { Project, Scope, Segment, Workflow } from './state.js';

/** A resource of the caller's project: 404 when no project has it, 403 when another project has. */
export function findOwn<Resource>(
  scope: Scope,
  collection: (project: Project) => ReadonlyMap<string, Resource>,
  id: string,
): Resource {
  const resource = collection(scope.project).get(id);
  if (resource !== undefined) {
    return resource;
  }
  const isForeign = [...scope.world.projects.values()].some((other) => collection(other).has(id));
  throw isForeign ? forbidden(`${id} belongs to another project.`) : notFound(id);
}

/** The segment that the path names. */
export function findSegment(scope: Scope, request: FakeRequest): Segment {
  return findOwn(scope, (project) => project.segments, request.params.id ?? '');
}

/** The workflow that the path names. */
export function findWorkflow(scope: Scope, request: FakeRequest): Workflow {
  return findOwn(scope, (project) => project.workflows, request.params.id ?? '');
}

export function notFound(what: string): Refusal {
  return new Refusal(404, 'NOT_FOUND', `${what} does not exist.`);
}

export function forbidden(message: string): Refusal {
  return new Refusal(403, 'FORBIDDEN', message);
}
