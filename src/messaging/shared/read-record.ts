import { isRecord } from '../../core/values.js';

export type { Contact } from '../contacts.types.js';

/** The fields that only a record has that was read: no request takes them. */
export const recordFields: readonly string[] = ['id', 'createdAt', 'updatedAt', '_meta'];

/**
 * Is this row a record that was read, a contact of the service or a row of a database? Its `subscribed` and its
 * `data` say how things were, and are not instructions.
 */
export function isReadRecord(row: Readonly<Record<string, unknown>>): boolean {
  const { id, createdAt, subscribed } = row;
  const isCreated = createdAt !== undefined && createdAt !== null;
  return typeof id === 'string' && id !== '' && isCreated && typeof subscribed === 'boolean';
}

/** Is this record a contact of the service? The fields that we do not know in it are the service's. */
export function isReadContact(row: Readonly<Record<string, unknown>>): boolean {
  return isReadRecord(row) && (row['data'] === null || isRecord(row['data']));
}
