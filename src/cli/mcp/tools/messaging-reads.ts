import type { Page } from 'postreel';
import * as z from 'zod/mini';
import { Refusal } from '../refusal.js';
import { readTool, type Services, type Tool } from './tool.js';

const text = z.string().check(z.minLength(1));
const cursor = z.optional(text);
const limit = z.optional(z.int().check(z.minimum(1), z.maximum(100)));
const byId = z.strictObject({ id: text });
const page = z.strictObject({ cursor, limit });

/** Reads of the messaging service. */
export const messagingReads: readonly Tool[] = [
  readTool({
    name: 'find_contacts',
    title: 'Find contacts',
    description:
      'Lists contacts, 20 at a time (`limit`: 1 to 100); `search` is a part of the email.',
    schema: z.strictObject({ search: z.optional(text), cursor, limit }),
    read: async (query, { messaging }, { signal }) =>
      pageOf(await messaging.contacts.list(query, { signal })),
  }),
  readTool({
    name: 'get_contact',
    title: 'Get a contact',
    description: 'One contact with its custom fields, by id or by email.',
    schema: z.strictObject({ contact: text }),
    read: ({ contact }, services, { signal }) => findContact(contact, services, signal),
  }),
  readTool({
    name: 'list_templates',
    title: 'List templates',
    description: 'Email templates, 20 at a time.',
    schema: z.strictObject({ search: z.optional(text), cursor, limit }),
    read: async (query, { messaging }, { signal }) =>
      pageOf(await messaging.templates.list(query, { signal })),
  }),
  readTool({
    name: 'get_template',
    title: 'Get a template',
    description: 'One template, with its subject and body.',
    schema: byId,
    read: ({ id }, { messaging }, { signal }) => messaging.templates.get(id, { signal }),
  }),
  readTool({
    name: 'list_campaigns',
    title: 'List campaigns',
    description: 'Campaigns with their status.',
    schema: page,
    read: async (query, { messaging }, { signal }) =>
      pageOf(await messaging.campaigns.list(query, { signal })),
  }),
  readTool({
    name: 'get_campaign',
    title: 'Get a campaign',
    description: 'One campaign, with its counts of sends, opens, clicks and bounces.',
    schema: byId,
    read: async ({ id }, { messaging }, { signal }) => ({
      campaign: await messaging.campaigns.get(id, { signal }),
      stats: await messaging.campaigns.stats(id, { signal }),
    }),
  }),
  readTool({
    name: 'list_segments',
    title: 'List segments',
    description: 'Segments of contacts.',
    schema: z.strictObject({}),
    read: async (_, { messaging }, { signal }) => pageOf(await messaging.segments.list({ signal })),
  }),
  readTool({
    name: 'list_segment_members',
    title: 'List the members of a segment',
    description: 'The contacts of a segment, 20 at a time.',
    schema: z.strictObject({ id: text, cursor }),
    read: async ({ id, cursor: from }, { messaging }, { signal }) =>
      pageOf(await messaging.segments.members.list(id, { cursor: from }, { signal })),
  }),
  readTool({
    name: 'list_workflows',
    title: 'List workflows',
    description: 'Workflows with their trigger, and whether they are on.',
    schema: page,
    read: async (query, { messaging }, { signal }) =>
      pageOf(await messaging.workflows.list(query, { signal })),
  }),
  readTool({
    name: 'get_workflow',
    title: 'Get a workflow',
    description: 'One workflow with its steps and transitions.',
    schema: byId,
    read: ({ id }, { messaging }, { signal }) => messaging.workflows.get(id, { signal }),
  }),
  readTool({
    name: 'recent_activity',
    title: 'Recent activity',
    description: 'Sends, opens, clicks, bounces and events across the project, newest first.',
    schema: page,
    read: async (query, { messaging }, { signal }) =>
      pageOf(await messaging.activity.list(query, { signal })),
  }),
];

/** A contact by id, or by email where there is an `@`. */
export async function findContact(contact: string, { messaging }: Services, signal: AbortSignal) {
  if (!contact.includes('@')) {
    return messaging.contacts.get(contact, { signal });
  }
  const found = await messaging.contacts.findByEmail(contact, { signal });
  if (found === undefined) {
    throw new Refusal(`There is no contact ${JSON.stringify(contact)}.`);
  }
  return found;
}

function pageOf<Item>({ items, total, hasMore, cursor: next }: Page<Item>) {
  return { items, total, hasMore, cursor: next };
}
