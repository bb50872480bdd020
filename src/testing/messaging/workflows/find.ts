import type { FakeRequest } from '../../core/types.js';
import { findOwn } from '../access.js';
import type { Scope, Workflow } from '../state.js';

/** The workflow that the path names. */
export function findWorkflow(scope: Scope, request: FakeRequest): Workflow {
  return findOwn(scope, (project) => project.workflows, request.params.id ?? '');
}
