import type { OpenRecord } from '../../contract/records.js';
import type { ListQuery } from '../shared/query.js';

/** A domain to send from. The service's document does not show its fields. */
export interface Domain extends OpenRecord {
  id: string;
}

/** A domain to add. The names are not given by the service's document. */
export interface DomainCreate extends OpenRecord {
  domain?: string | undefined;
  /** @default the project of the key */
  projectId?: string | undefined;
}

/** Which domains to list. */
export interface DomainQuery extends ListQuery {}

/** The outcome of a check. The service's document does not show its fields. */
export interface DomainVerification extends OpenRecord {}
