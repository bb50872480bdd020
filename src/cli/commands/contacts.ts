import { createReadStream, existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import type { ReportedRow } from 'postreel';
import type { Contact } from 'postreel/messaging';
import { messageOf } from '../../core/errors.js';
import {
  columnsOf,
  isUnsubscribedName,
  findUnclearColumns,
} from '../../messaging/contacts/import-columns.js';
import { headerOf, findLineNumbers, survey } from '../../messaging/contacts/import.js';
import {
  ask,
  canAsk,
  collectColumns,
  createCommand,
  createOption,
  parseWholeNumber,
} from '../command.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { formatDefault, rulesOf, formatSubscriptions, type Statement } from '../import-rules.js';
import { startProgress, formatWait } from '../progress.js';
import { formatCount, tableOf, type Column } from '../table.js';
import { createContactsCsv } from './contacts-csv.js';

interface ListInput {
  readonly search?: string;
  readonly limit: number;
  readonly all?: boolean;
}

interface ImportInput {
  readonly file: string;
  readonly columns?: Readonly<Record<string, string | null>>;
  readonly newContacts?: 'subscribed' | 'unsubscribed';
  readonly subscribed?: boolean;
  readonly from?: number;
  readonly yes?: boolean;
}

interface ExportInput {
  readonly file?: string;
  readonly search?: string;
  readonly force?: boolean;
  readonly raw?: boolean;
  readonly bom?: boolean;
}

const search = createOption('--search <text>', 'a part of the email');

/** `postreel contacts list`, `import` and `export` */
export const contacts = [
  createCommand<ListInput>({
    name: 'contacts list',
    about: 'list contacts; one line of JSON each without a terminal',
    options: [
      search,
      createOption('--limit <count>', 'the most contacts to list', parseWholeNumber(1), 20),
      createOption('--all', 'list every contact'),
    ],
    examples: ['contacts list', 'contacts list --search @example.com --all'],
    run: list,
  }),
  createCommand<ImportInput>({
    name: 'contacts import',
    about: 'import a CSV file of any size, with a column of email addresses',
    args: [['<file>', 'CSV file']],
    options: [
      createOption(
        '--new-contacts <state>',
        'contacts that do not exist yet become subscribed or unsubscribed; existing ones keep their state',
      ).choices(['subscribed', 'unsubscribed']),
      createOption(
        '--subscribed [state]',
        'true subscribes and false unsubscribes everybody in the file, existing contacts included',
        parseBoolean,
      ).preset('true'),
      createOption(
        '--columns <name=field>',
        'the field of a column: email, subscribed, not:subscribed if a yes or a date in it means unsubscribed, or another name; without a field the column is dropped; may be given several times',
        collectColumns,
      ),
      createOption(
        '--from <row>',
        'the row to begin with, from 0, as an import that ended early names it',
        parseWholeNumber(0),
      ),
    ],
    examples: [
      'contacts import people.csv --new-contacts unsubscribed',
      'contacts import people.csv --columns "Address=email" --columns "Notes=" --new-contacts subscribed --yes',
      'contacts import people.csv --columns "Opted out=not:subscribed"',
    ],
    plan: async (input, context) => {
      const { file, columns = {}, from = 0 } = input;
      const statement = await statementOf(input, context);
      const read = await survey(createReadStream(file), rulesOf(statement));
      if (read.rows === 0) {
        throw new CommandEnd('rejected', `${file} has no rows below its header.`);
      }
      const messaging = await context.messaging();
      const { size: bytes } = await stat(file);
      const become = Object.entries(columns).map(
        ([name, field]) => `${name}: ${field ?? 'dropped'}`,
      );
      return {
        action: `Import ${formatCount(Math.max(0, read.rows - from), 'contact')}`,
        facts: {
          file,
          bytes,
          rows: read.rows,
          from: input.from,
          columns: read.columns,
          become: become.length > 0 ? become : undefined,
          subscribed: formatSubscriptions(read),
          otherwise: read.subscriptions.nothing > 0 ? formatDefault(statement) : undefined,
          wrong: read.wrong > 0 ? formatCount(read.wrong, 'row') : undefined,
          reasons: read.wrong > 0 ? read.reasons.map(messageOf) : undefined,
        },
        run: () => importFile({ file, from, rows: read.rows, statement }, messaging, context),
      };
    },
  }),
  createCommand<ExportInput>({
    name: 'contacts export',
    about: 'write contacts as CSV, and say what a CSV file cannot carry',
    args: [['[file]', 'CSV file, or stdout without it']],
    options: [
      search,
      createOption('--force', 'overwrite the file if it exists'),
      createOption(
        '--raw',
        'write texts unchanged, even if a spreadsheet would run them as formulas',
      ),
      createOption('--bom', 'begin with a byte-order mark, by which Excel knows the encoding'),
    ],
    examples: ['contacts export contacts.csv --bom', 'contacts export > people.csv'],
    run: exportFile,
  }),
];

const listColumns: readonly Column<Contact>[] = [
  { heading: 'Email', text: ({ email }) => email },
  { heading: 'Subscribed', text: ({ subscribed }) => (subscribed ? 'yes' : 'no') },
  { heading: 'Data', text: ({ data }) => (data === null ? '' : JSON.stringify(data)) },
  { heading: 'Id', text: ({ id }) => id },
];

async function list({ search: part, limit, all }: ListInput, context: Context): Promise<void> {
  const { output, signal } = context;
  const messaging = await context.messaging();
  const most = all ? Infinity : limit;
  const shown: Contact[] = [];
  let total = 0;
  for await (const contact of messaging.contacts.list(queryOf(part), { signal })) {
    total += 1;
    if (total > most) {
      break;
    }
    if (output.isJson) {
      output.result(contact, () => '');
    } else {
      shown.push(contact);
    }
  }
  if (!output.isJson) {
    const table = shown.length > 0 ? tableOf(shown, listColumns, output) : 'No contacts.';
    output.result(shown, () => table);
  }
  if (total > most) {
    output.note(output.paintNote('dim', `There are more: use --all, or --limit above ${limit}.`));
  }
}

function queryOf(part: string | undefined) {
  return part === undefined ? {} : { search: part };
}

function parseBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') {
    throw new InvalidArgumentError('It must be true or false.');
  }
  return text === 'true';
}

/** Finds out who is subscribed: from the options, from a column, or by asking the person in the terminal. */
async function statementOf(input: ImportInput, context: Context): Promise<Statement> {
  const { file, columns = {}, newContacts, subscribed, yes = false } = input;
  if (newContacts !== undefined && subscribed !== undefined) {
    throw new CommandEnd('usage', 'Give --new-contacts or --subscribed, not both.');
  }
  const statement: Statement = { columns, newContacts, subscribed };
  const rules = rulesOf(statement);
  const header = await headerOf(createReadStream(file));
  const found = columnsOf(header, { ...rules, isStated: true, allowsUnclear: true }, true);
  const [unclear] = findUnclearColumns(header, rules.named);
  const names = header.map((name) => `"${name}"`).join(', ');
  if (unclear !== undefined) {
    const plain = isUnsubscribedName(unclear)
      ? ''
      : `--columns "${unclear}=subscribed" if its yes means subscribed, `;
    throw new CommandEnd(
      'rejected',
      `The column "${unclear}" says who is subscribed, or who is not. Name it: ${plain}--columns "${unclear}=not:subscribed" if its yes, or a date, means unsubscribed, --columns "${unclear}=…" to keep it as a custom field, or --columns "${unclear}=" to drop it. The columns are ${names}.`,
    );
  }
  if (rules.isStated || found.subscribedIndex >= 0) {
    return statement;
  }
  if (yes || !canAsk(context)) {
    throw new CommandEnd(
      'rejected',
      `This import does not say who is subscribed. Add --new-contacts subscribed or --new-contacts unsubscribed (existing contacts keep their state), --columns "…=subscribed" or --columns "…=not:subscribed" for a column that says it, or --subscribed true or --subscribed false for everybody in the file, existing contacts included. The columns are ${names}.`,
    );
  }
  context.output.note(`The file does not say who is subscribed. Its columns are ${names}.`);
  const answer = await ask(
    'Shall contacts that do not exist yet be subscribed? Existing ones keep their state. [y/n] ',
    context,
  );
  const isYes = /^y(es)?$/i.test(answer);
  if (!isYes && !/^no?$/i.test(answer)) {
    throw new CommandEnd('notConfirmed', 'Nothing was done.');
  }
  return { ...statement, newContacts: isYes ? 'subscribed' : 'unsubscribed' };
}

interface FileImport {
  readonly file: string;
  readonly from: number;
  readonly rows: number;
  readonly statement: Statement;
}

async function importFile(
  { file, from, rows, statement }: FileImport,
  messaging: Awaited<ReturnType<Context['messaging']>>,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const progress = startProgress(context);
  let done = from;
  const show = (note: string) => progress.show(file, { done, total: rows, note });
  show('rows');
  messaging.on('throttled', (wait) => show(formatWait(wait)));
  messaging.on('call:end', ({ method, error }) => {
    if (method === 'GET' && error !== undefined && !signal.aborted) {
      context.warn(`A check of the import fails, and is made again: ${messageOf(error)}`);
    }
  });
  const result = await messaging.contacts
    .importAll(createReadStream(file), {
      ...statement,
      from,
      signal,
      onProgress: (counts) => {
        done = from + counts.done + counts.failed + counts.unknown;
        show('rows');
      },
    })
    .finally(() => progress.stop());
  output.result(
    result,
    () => `${output.paint('green', 'imported')} ${formatCount(result.done, 'row')}`,
  );
  const { failed, unknown } = result;
  const indexes = new Set([...failed, ...unknown].map(({ index }) => index));
  const numbers =
    indexes.size > 0
      ? await findLineNumbers(createReadStream(file), indexes)
      : new Map<number, number>();
  for (const [word, rowsOf] of [['failed', failed] as const, ['unknown', unknown] as const]) {
    for (const line of linesOf(rowsOf, numbers)) {
      output.note(`${output.paintNote('red', word)} ${line}`);
    }
  }
  if (failed.length + unknown.length > 0) {
    const end = unknown.length > 0 ? 'unknown' : 'jobFailed';
    throw new CommandEnd(end, 'Some rows were not imported, or may not have been.');
  }
}

/** Formats adjacent rows with the same error as one line, with their line numbers in the file. */
function linesOf(
  rows: readonly ReportedRow<unknown>[],
  numbers: ReadonlyMap<number, number>,
): string[] {
  const lines: string[] = [];
  for (let start = 0; start < rows.length;) {
    const { error, index = 0 } = rows[start] ?? {};
    let end = start + 1;
    while (rows[end]?.error === error && end < rows.length) {
      end += 1;
    }
    const why = messageOf(error);
    const first = numbers.get(index);
    const last = numbers.get(rows[end - 1]?.index ?? index);
    if (end - start > 1) {
      lines.push(`lines ${first} to ${last}: ${why}`);
    } else {
      lines.push(why.includes(`line ${first}:`) ? why : `line ${first}: ${why}`);
    }
    start = end;
  }
  return lines;
}

async function exportFile(input: ExportInput, context: Context): Promise<void> {
  const { file, search: part, force = false, raw = false, bom = false } = input;
  const { output, signal } = context;
  if (file !== undefined && !force && existsSync(file)) {
    throw new CommandEnd('failed', `${file} already exists. Add --force to overwrite it.`);
  }
  const messaging = await context.messaging();
  const rows = await readContacts(file ?? 'contacts', messaging, part, context);
  const { text: plain, notes } = createContactsCsv(rows, raw);
  const text = bom ? `\uFEFF${plain}` : plain;
  for (const note of notes) {
    output.note(`${output.paintNote('yellow', 'note')} ${note}`);
  }
  if (file === undefined) {
    output.raw(text);
    return;
  }
  await writeFile(file, text, { signal, flag: force ? 'w' : 'wx', mode: 0o600 });
  const wrote = output.paint('green', 'wrote');
  output.result(
    { file, contacts: rows.length },
    () => `${wrote} ${formatCount(rows.length, 'contact')} to ${file}`,
  );
}

/** Reads all contacts as rows of a file, and shows the progress. */
async function readContacts(
  name: string,
  messaging: Awaited<ReturnType<Context['messaging']>>,
  part: string | undefined,
  context: Context,
): Promise<readonly Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  const progress = startProgress(context);
  const query = { ...queryOf(part), limit: 100 };
  try {
    const pages = messaging.contacts.list(query, { signal: context.signal }).pages();
    for await (const { items, total, hasMore } of pages) {
      for (const { email, subscribed, id, createdAt, updatedAt, data } of items) {
        rows.push({ ...data, email, subscribed, id, createdAt, updatedAt });
      }
      if (hasMore) {
        progress.show(name, { done: rows.length, total: total ?? rows.length, note: 'contacts' });
      }
    }
  } finally {
    progress.stop();
  }
  return rows;
}
