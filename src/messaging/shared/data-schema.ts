import * as z from 'zod/mini';
import { isRecord } from '../../contract/records.js';
import type { ContactData, ReservedKey } from './data.js';

// Each reserved key with what to use in its place.
const reserved: Readonly<Record<ReservedKey, string>> = {
  id: "it is the contact's id",
  svc_id: 'the service uses it itself',
  svc_email: 'the service uses it itself',
  email: 'use the `email` field beside `data`',
  unsubscribeUrl: 'the service sets it',
  subscribeUrl: 'the service sets it',
  manageUrl: 'the service sets it',
};

/** `data` of a contact, a send or an event: no key that the service would silently drop. */
export const contactData = z.custom<ContactData>(isRecord, 'must be an object').check((context) => {
  for (const key of reservedIn(context.value)) {
    const message = `is a reserved key: ${reserved[key]}`;
    context.issues.push({ code: 'custom', path: [key], message, input: context.value });
  }
});

/** Names the fields of `data` that will have no effect: the service ignores empty strings. */
export function dataWarnings(data: ContactData | undefined): readonly string[] {
  const empty = Object.entries(data ?? {}).filter(([, value]) => value === '');
  return empty.map(
    ([key]) =>
      `\`data.${key}\` is an empty string, which the service ignores. Use null to delete the field.`,
  );
}

function reservedIn(data: Readonly<Record<string, unknown>>): ReservedKey[] {
  const keys = Object.keys(reserved) as ReservedKey[]; // the record's own keys
  return keys.filter((key) => data[key] !== undefined);
}
