import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { PartialError, type Report, type ReportedRow } from 'postreel';
import * as z from 'zod/mini';
import {
  columnsOf,
  isUnsubscribedName,
  findUnclearColumns,
} from '../messaging/contacts/import-columns.js';
import { headerOf, findLineNumbers, survey, type Survey } from '../messaging/contacts/import.js';
import {
  formatDefault,
  rulesOf,
  formatSubscriptions,
  type Statement,
} from '../cli/import-rules.js';
import { formatCount } from '../cli/table.js';
import { endStep, endCountedStep } from './outcomes.js';
import { formatAddresses, formatInline, messageOf, ToolRefusal } from './text.js';
import { assertAtMost, planTool, type Fact, type Services, type Tool } from './tool.js';
import { describeStartedWorkflows, subscriptionEvents } from './facts.js';

const maxContacts = 50;
const maxBytes = 5 * 1024 * 1024;
const text = z.string().check(z.minLength(1));
const emails = z.optional(z.array(text).check(z.maxLength(maxContacts)));

/** The tools that plan steps which change who gets mail, or the data about contacts. */
export const contactPlans: readonly Tool[] = [
  planTool({
    name: 'plan_contact',
    about:
      'Plans to create a contact, or to change `subscribed` and custom fields (`data`) of one. A new contact needs `subscribed`.',
    schema: z.looseObject({
      email: text,
      subscribed: z.optional(z.boolean()),
      data: z.optional(z.record(z.string(), z.unknown())),
    }),
    describe: async ({ email, ...change }, services, signal) => {
      const { messaging } = services;
      const now = await messaging.contacts.findByEmail(email, { signal });
      if (now === undefined && change.subscribed === undefined) {
        throw new ToolRefusal(
          'Say whether the new contact is subscribed: the service subscribes it otherwise.',
        );
      }
      return {
        action: now === undefined ? 'Create 1 contact' : 'Change 1 contact',
        facts: [
          { label: 'email', text: formatAddresses(email) },
          ...(now === undefined
            ? []
            : [
                {
                  label: 'now',
                  text: formatInline({ subscribed: now.subscribed, data: now.data }),
                },
              ]),
          { label: 'change', text: formatInline(change) },
          ...(change.subscribed === undefined
            ? []
            : await describeStartedWorkflows(subscriptionEvents, services, signal)),
          { label: 'cost', text: '2 calls' },
        ],
      };
    },
    run: async ({ email, ...change }, { messaging }) => {
      const now = await messaging.contacts.findByEmail(email);
      return now === undefined
        ? messaging.contacts.create({ email, ...change })
        : messaging.contacts.update(now.id, change);
    },
  }),
  planTool({
    name: 'plan_address_check',
    about:
      'Plans to check whether an address is valid, disposable or mistyped. Sends no email, but asks the domain.',
    schema: z.looseObject({ email: text }),
    describe: ({ email }) =>
      Promise.resolve({
        action: 'Check 1 email address',
        facts: [
          { label: 'email', text: formatAddresses(email) },
          { label: 'also', text: 'whoever owns its domain may see the address' },
          { label: 'cost', text: '1 call' },
        ],
      }),
    run: (body, { messaging }) => messaging.verify(body),
  }),
  planTool({
    name: 'plan_contact_deletion',
    about: 'Plans to delete up to 50 contacts, by id.',
    schema: z.looseObject({ ids: z.array(text).check(z.minLength(1)) }),
    fields: { ids: 'The ids of the contacts.' },
    describe: async ({ ids }, services, signal) => {
      assertAtMost(ids.length, maxContacts, 'contacts');
      const contacts = await Promise.all(
        ids.map((id) => services.messaging.contacts.get(id, { signal })),
      );
      return {
        action: `Delete ${formatCount(new Set(ids).size, 'contact')}`,
        facts: [
          {
            label: 'who',
            text: contacts.map(({ id, email }) => formatAddresses({ id, email })).join(', '),
          },
          { label: 'cost', text: formatCount(ids.length, 'call') },
          { label: 'cannot be undone', text: 'the contacts and their custom fields are gone' },
        ],
      };
    },
    run: async ({ ids }, { messaging }, { signal }) => {
      const deletedIds: string[] = [];
      const failed: { id: string; error: unknown }[] = [];
      for (const id of new Set(ids)) {
        const call = signal.aborted
          ? Promise.reject(new ToolRefusal('The server has stopped.'))
          : messaging.contacts.delete(id);
        await call.then(
          () => deletedIds.push(id),
          (error: unknown) => failed.push({ id, error }),
        );
      }
      const failures = failed.map(({ id, error }) => ({ id, error: messageOf(error) }));
      const errors = failed.map(({ error }) => error);
      return endStep({ deletedIds, failed: failures }, deletedIds.length, errors);
    },
  }),
  planTool({
    name: 'plan_import',
    about:
      'Plans to import a CSV file of the folder of this server, of at most 5 MB, with a column of email addresses. The plan needs to say who is subscribed: by `newContacts`, by a column, or by `subscribed`.',
    schema: z.looseObject({
      file: text,
      newContacts: z.optional(z.enum(['subscribed', 'unsubscribed'])),
      subscribed: z.optional(z.boolean()),
      columns: z.optional(z.record(z.string(), z.nullable(z.string()))),
    }),
    fields: {
      file: 'The name of the file, such as people.csv.',
      newContacts:
        'What contacts that do not exist yet become, if their row does not say it; existing contacts keep their state.',
      subscribed:
        'Subscribes or unsubscribes the contacts of all rows that do not say it, existing contacts included.',
      columns: {
        type: 'object',
        description:
          'Fields by the names of columns, such as {"E-Mail": "email"}; null drops one. {"Opt in": "subscribed"} is a column that says who is subscribed, {"Opted out": "not:subscribed"} one whose yes or date means unsubscribed.',
      },
    },
    describe: async ({ file, ...statement }, services, signal) => {
      const { content, rows, read } = await readCsv(file, statement, services);
      const { columns } = statement;
      return {
        action: `Import the contacts of ${formatInline(file)}`,
        content: { bytes: content, total: read.rows } satisfies CountedFile,
        facts: [
          { label: 'columns', text: read.columns.map(formatInline).join(', ') },
          ...(columns ? [{ label: 'become', text: formatInline(columns) }] : []),
          ...describeRows(rows, read, statement),
          { label: 'sha256', text: createHash('sha256').update(content).digest('hex') },
          {
            label: 'also',
            text: 'updates existing contacts, and subscribes people who had unsubscribed again if their row says so',
          },
          ...(await describeStartedWorkflows(subscriptionEvents, services, signal)),
          {
            label: 'cost',
            text: `${formatCount(read.files, 'call')}, and more to look at the progress${statement.newContacts === 'unsubscribed' ? ' and to look up contacts' : ''}`,
          },
          { label: 'cannot be undone', text: 'values that it overwrites' },
        ],
      };
    },
    run: async ({ columns, newContacts, subscribed }, { messaging }, { content }) => {
      const { bytes, total } = content as CountedFile; // as: the bytes whose hash the person saw
      let cause: unknown;
      const { done, failed, unknown } = await messaging.contacts
        .importAll([bytes], { columns, newContacts, subscribed })
        .catch((error: unknown): Report<unknown> => {
          if (!(error instanceof PartialError)) {
            throw error;
          }
          ({ cause } = error);
          return error.result;
        });
      const notReached = total - done - failed.length - unknown.length;
      return endCountedStep(
        {
          done,
          failed: await reasonsOf(failed, bytes),
          unknown: await reasonsOf(unknown, bytes),
          ...(notReached > 0 && { notReached: { rows: notReached, error: messageOf(cause) } }),
        },
        { done, failed: failed.length + notReached, unknown: unknown.length },
        [...failed.map(({ error }) => error), ...unknown.map(({ error }) => error), cause].filter(
          (error) => error !== undefined,
        ),
      );
    },
  }),
  planTool({
    name: 'plan_segment_members',
    about: 'Plans to add contacts to a static segment or to remove them, up to 50 emails in all.',
    schema: z.looseObject({ id: text, add: emails, remove: emails }),
    fields: { add: 'The emails to add.', remove: 'The emails to remove.' },
    describe: async ({ id, add = [], remove = [] }, services, signal) => {
      if (add.length + remove.length === 0) {
        throw new ToolRefusal('Give emails to `add` or to `remove`.');
      }
      assertAtMost(add.length + remove.length, maxContacts, 'contacts');
      const { name } = await services.messaging.segments.get(id, { signal });
      return {
        action: `Change the members of the segment ${formatInline(name)}`,
        facts: [
          { label: 'add', text: formatAddresses(...add) || 'none' },
          { label: 'remove', text: formatAddresses(...remove) || 'none' },
          ...(await describeStartedWorkflows([id], services, signal)),
          {
            label: 'cost',
            text: formatCount([add, remove].filter(({ length }) => length > 0).length, 'call'),
          },
        ],
      };
    },
    run: async ({ id, add = [], remove = [] }, { messaging }) => {
      const { members } = messaging.segments;
      const added = add.length > 0 && (await members.add(id, { emails: add }));
      const errors: unknown[] = [];
      const removed =
        remove.length > 0 &&
        (await members.remove(id, { emails: remove }).catch((error: unknown) => {
          errors.push(error);
          return { error: messageOf(error) };
        }));
      return endStep({ added, removed }, added === false ? 0 : 1, errors);
    },
  }),
];

async function readCsv(file: string, statement: Statement, { folder }: Services) {
  const path = await folder.resolveExisting(file);
  // Reject other files: an agent does not need them, and its plan would show their content.
  if (!/\.csv$/i.test(file) || !/\.csv$/i.test(path)) {
    throw new ToolRefusal('Only files whose names end in .csv are imported.');
  }
  const { size } = await stat(path);
  if (size > maxBytes) {
    throw new ToolRefusal('The service takes files of 5 MB at most.');
  }
  const content = await readFile(path);
  await requireStatement(content, statement);
  const rows: Record<string, unknown>[] = [];
  const read = await survey([content], rulesOf(statement), ({ fields, cells, ownSubscribed }) => {
    if (rows.length < maxContacts) {
      const sent = fields.map((name, at) => [name, cells[at]] as const);
      rows.push({
        ...Object.fromEntries(sent),
        ...(ownSubscribed !== undefined && { subscribed: ownSubscribed }),
      });
    }
  });
  return { content, rows, read };
}

/** Throws if the plan does not state who is subscribed, in the terms of this tool. */
async function requireStatement(content: Uint8Array, statement: Statement): Promise<void> {
  const { newContacts, subscribed } = statement;
  if (newContacts !== undefined && subscribed !== undefined) {
    throw new ToolRefusal('Give `newContacts` or `subscribed`, not both.');
  }
  const rules = rulesOf(statement);
  const header = await headerOf([content]);
  const found = columnsOf(header, { ...rules, isStated: true, allowsUnclear: true }, true);
  const names = header.map(formatInline).join(', ');
  const [unclear] = findUnclearColumns(header, rules.named);
  if (unclear !== undefined) {
    const plain = isUnsubscribedName(unclear) ? '' : '"subscribed" if its yes means subscribed, ';
    throw new ToolRefusal(
      `The column ${formatInline(unclear)} says who is subscribed, or who is not. Ask the person, and name it in \`columns\`: ${plain}"not:subscribed" if its yes, or a date, means unsubscribed, another name to keep it as a custom field, or null to drop it. The columns are ${names}.`,
    );
  }
  if (!rules.isStated && found.subscribedIndex < 0) {
    throw new ToolRefusal(
      `The plan does not say who is subscribed. Ask the person, and give \`newContacts\` (existing contacts keep their state), a column that says it in \`columns\` ("subscribed" or "not:subscribed"), or \`subscribed\` for everybody, existing contacts included. The columns are ${names}.`,
    );
  }
}

interface CountedFile {
  readonly bytes: Uint8Array;
  /** The number of rows. */
  readonly total: number;
}

const maxRowsText = 20_000;

/** The number of rows, and the first few of them. */
function describeRows(
  rows: readonly Record<string, unknown>[],
  read: Survey,
  statement: Statement,
): Fact[] {
  const lines: string[] = [];
  let length = 0;
  for (const { email, ...others } of rows) {
    const line = `${formatAddresses(email)} ${formatInline(others)}`;
    length += line.length;
    if (length > maxRowsText) {
      break;
    }
    lines.push(line);
  }
  const isWhole = lines.length === read.rows - read.wrong;
  const label = isWhole ? 'who' : `the first ${lines.length}`;
  return [
    { label: 'rows', text: String(read.rows) },
    { label: 'subscribed', text: formatSubscriptions(read) },
    ...(read.subscriptions.nothing > 0
      ? [{ label: 'otherwise', text: formatDefault(statement) }]
      : []),
    ...(read.wrong > 0
      ? [{ label: 'not sent', text: `${formatCount(read.wrong, 'row')} with something wrong` }]
      : []),
    { label, text: lines.join('\n') || 'none' },
    ...(isWhole
      ? []
      : [{ label: 'not shown', text: 'all other rows: look at the file before you say yes' }]),
  ];
}

const maxReasons = 20;

async function reasonsOf(
  rows: readonly ReportedRow<unknown>[],
  bytes: Uint8Array,
): Promise<string[]> {
  const shown = rows.slice(0, maxReasons);
  const lines = await findLineNumbers([bytes], new Set(shown.map(({ index }) => index)));
  const more = rows.length > maxReasons ? [`… (${rows.length} in all)`] : [];
  const reasons = shown.map(({ index, error }) => {
    const [why, line] = [messageOf(error), `line ${lines.get(index)}:`];
    return why.includes(line) ? why : `${line} ${why}`;
  });
  return [...reasons, ...more];
}
