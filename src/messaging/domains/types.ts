import type { OpenInput, OpenRecord } from '../../core/values.js';
import type { ListQuery } from '../shared/query.js';

/** A domain to send from. The service does not document its fields. */
export interface Domain extends OpenRecord {
  id: string;
}

/**
 * A domain to add. The service does not document these names. A domain that a method returned will do:
 * its `id` is left out.
 */
export interface DomainCreate extends OpenInput {
  domain?: string | undefined;
  /** @default the project of the key */
  projectId?: string | undefined;
}

/** Which domains to list. */
export interface DomainQuery extends ListQuery {}

/** The result of a check. The service does not document its fields. */
export interface DomainVerification extends OpenRecord {}
