import { isRecord } from '../../core/values.js';

export type { Contact } from '../contacts.types.js';

/** The fields that only records read from the service have. No request accepts them. */
export const recordFields: readonly string[] = ['id', 'createdAt', 'updatedAt', '_meta'];

/**
 * Whether this row is a record that was read: a contact of the service, or a row of a database. Its `subscribed` and
 * its `data` describe the state at that time. They are not instructions to change it.
 */
export function isReadRecord(row: Readonly<Record<string, unknown>>): boolean {
  const { id, createdAt, subscribed } = row;
  const isCreated = createdAt !== undefined && createdAt !== null;
  return typeof id === 'string' && id !== '' && isCreated && typeof subscribed === 'boolean';
}

/** Whether this record is a contact of the service. Its unknown fields then come from the service. */
export function isReadContact(row: Readonly<Record<string, unknown>>): boolean {
  return isReadRecord(row) && (row['data'] === null || isRecord(row['data']));
}
