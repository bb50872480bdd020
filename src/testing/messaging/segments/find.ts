import type { FakeRequest } from '../../core/types.js';
import { findOwn } from '../access.js';
import type { Scope, Segment } from '../state.js';

/** The segment that the path names. */
export function findSegment(scope: Scope, request: FakeRequest): Segment {
  return findOwn(scope, (project) => project.segments, request.params.id ?? '');
}
