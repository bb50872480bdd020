import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import { count } from '../../terminal/table.js';
import { messageOf } from '../failure.js';
import { Refusal } from '../refusal.js';
import { addresses, inline } from '../text.js';
import { assertAtMost, planTool, type Services, type Tool } from './tool.js';
import { startedFacts, subscriptionEvents } from './workflow-facts.js';

const maxContacts = 50;
const maxBytes = 5 * 1024 * 1024;
const text = z.string().check(z.minLength(1));
const emails = z.optional(z.array(text).check(z.maxLength(maxContacts)));

/** Steps that change who is mailed, and what is known of them. */
export const contactPlans: readonly Tool[] = [
  planTool({
    name: 'plan_contact',
    title: 'Plan a change of a contact',
    description:
      'Plans to create a contact, or to change `subscribed` and custom fields (`data`) of one. A new contact needs `subscribed`.',
    schema: z.strictObject({
      email: text,
      subscribed: z.optional(z.boolean()),
      data: z.optional(z.record(z.string(), z.unknown())),
    }),
    describe: async ({ email, ...change }, services, signal) => {
      const { messaging } = services;
      const now = await messaging.contacts.findByEmail(email, { signal });
      if (now === undefined && change.subscribed === undefined) {
        throw new Refusal(
          'Say whether the new contact is subscribed: the service subscribes it otherwise.',
        );
      }
      return {
        action: now === undefined ? 'Create 1 contact' : 'Change 1 contact',
        facts: [
          { label: 'email', text: addresses(email) },
          ...(now === undefined
            ? []
            : [{ label: 'now', text: inline({ subscribed: now.subscribed, data: now.data }) }]),
          { label: 'change', text: inline(change) },
          ...(change.subscribed === undefined
            ? []
            : await startedFacts(subscriptionEvents, services, signal)),
          { label: 'cost', text: '2 calls' },
        ],
      };
    },
    run: async ({ email, ...change }, { messaging }, { signal }) => {
      const now = await messaging.contacts.findByEmail(email, { signal });
      return now === undefined
        ? messaging.contacts.create({ email, ...change }, { signal })
        : messaging.contacts.update(now.id, change, { signal });
    },
  }),
  planTool({
    name: 'plan_address_check',
    title: 'Plan to check an email address',
    description:
      'Plans to check whether an address is valid, disposable or mistyped. Sends no email, but asks the domain.',
    schema: z.strictObject({ email: text }),
    describe: ({ email }) =>
      Promise.resolve({
        action: 'Check 1 email address',
        facts: [
          { label: 'email', text: addresses(email) },
          { label: 'also', text: 'whoever owns its domain may see the address' },
          { label: 'cost', text: '1 call' },
        ],
      }),
    run: (body, { messaging }, { signal }) => messaging.verify(body, { signal }),
  }),
  planTool({
    name: 'plan_contact_deletion',
    title: 'Plan to delete contacts',
    description: 'Plans to delete up to 50 contacts, by id.',
    schema: z.strictObject({ ids: z.array(text).check(z.minLength(1)) }),
    describe: async ({ ids }, services, signal) => {
      assertAtMost(ids.length, maxContacts, 'contacts');
      const contacts = await Promise.all(
        ids.map((id) => services.messaging.contacts.get(id, { signal })),
      );
      return {
        action: `Delete ${count(new Set(ids).size, 'contact')}`,
        facts: [
          { label: 'who', text: contacts.map(({ id, email }) => inline({ id, email })).join(', ') },
          { label: 'cost', text: count(ids.length, 'call') },
          { label: 'cannot be undone', text: 'the contacts and their custom fields are gone' },
        ],
      };
    },
    run: async ({ ids }, { messaging }, progress) => {
      const { signal } = progress;
      const deleted: string[] = [];
      const failed: { id: string; error: string }[] = [];
      for (const id of new Set(ids)) {
        signal.throwIfAborted();
        await messaging.contacts.delete(id, { signal }).then(
          () => deleted.push(id),
          (error: unknown) => failed.push({ id, error: messageOf(error) }),
        );
        signal.throwIfAborted();
        progress.report(deleted.length + failed.length, ids.length, `${deleted.length} deleted`);
      }
      return { deleted, failed };
    },
  }),
  planTool({
    name: 'plan_import',
    title: 'Plan an import of contacts',
    description: 'Plans to import a CSV file (at most 5 MB) of the folder of this server.',
    schema: z.strictObject({ file: text }),
    describe: async ({ file }, services, signal) => {
      const { content, lines, sha256 } = await csvOf(file, services);
      return {
        action: `Import the contacts of ${inline(file)}`,
        content,
        facts: [
          { label: 'columns', text: inline(lines[0] ?? '') },
          { label: 'lines below them', text: String(lines.length - 1) },
          { label: 'the first', text: lines.slice(1, 4).map(inline).join(', ') },
          { label: 'sha256', text: sha256 },
          {
            label: 'also',
            text: 'updates contacts that are there already, and may subscribe people who had unsubscribed',
          },
          ...(await startedFacts(subscriptionEvents, services, signal)),
          { label: 'cost', text: '1 call, and one for each look at its progress' },
          { label: 'cannot be undone', text: 'values that it overwrites' },
        ],
      };
    },
    run: async ({ file }, services, { signal }, content) => {
      const data = content as Uint8Array<ArrayBuffer>; // as: what the person was told the sum of
      const upload = { data, filename: file, contentType: 'text/csv' };
      const { jobId } = await services.messaging.contacts.import(upload, { signal });
      return { jobId, job: await services.messaging.contacts.waitForImport(jobId, { signal }) };
    },
  }),
  planTool({
    name: 'plan_segment_members',
    title: 'Plan to change the members of a segment',
    description:
      'Plans to add contacts to a static segment or to remove them, up to 50 emails in all.',
    schema: z.strictObject({ id: text, add: emails, remove: emails }),
    describe: async ({ id, add = [], remove = [] }, services, signal) => {
      if (add.length + remove.length === 0) {
        throw new Refusal('Give emails to `add` or to `remove`.');
      }
      assertAtMost(add.length + remove.length, maxContacts, 'contacts');
      const { name } = await services.messaging.segments.get(id, { signal });
      return {
        action: `Change the members of the segment ${inline(name)}`,
        facts: [
          { label: 'add', text: addresses(...add) || 'none' },
          { label: 'remove', text: addresses(...remove) || 'none' },
          ...(await startedFacts([id], services, signal)),
          {
            label: 'cost',
            text: count([add, remove].filter(({ length }) => length > 0).length, 'call'),
          },
        ],
      };
    },
    run: async ({ id, add = [], remove = [] }, { messaging }, { signal }) => {
      const { members } = messaging.segments;
      const added = add.length > 0 && (await members.add(id, { emails: add }, { signal }));
      const removed =
        remove.length > 0 && (await members.remove(id, { emails: remove }, { signal }));
      return { added, removed };
    },
  }),
];

async function csvOf(file: string, { folder }: Services) {
  const path = await folder.existing(file);
  // Any other file is no business of an agent, and what it plans is shown to it.
  if (!/\.csv$/i.test(file) || !/\.csv$/i.test(path)) {
    throw new Refusal('Only files whose names end in .csv are imported.');
  }
  const { size } = await stat(path);
  if (size > maxBytes) {
    throw new Refusal('The service takes files of 5 MB at most.');
  }
  const content = await readFile(path);
  const text = content.toString('utf8');
  if (/\r(?!\n)/.test(text)) {
    throw new Refusal('The file has line ends that hide rows. Save it with the usual ones.');
  }
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  if (!/(^|[,;\t])\s*"?email"?\s*([,;\t]|$)/i.test(lines[0] ?? '')) {
    throw new Refusal('The first line of the file has no column `email`.');
  }
  return { content, lines, sha256: createHash('sha256').update(content).digest('hex') };
}
