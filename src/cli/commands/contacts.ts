import { createReadStream, existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import type { ReportedRow } from 'postreel';
import type { Contact } from 'postreel/messaging';
import { messageOf } from '../../core/errors.js';
import { columnsOption } from '../../messaging/contacts/import-columns.js';
import { survey } from '../../messaging/contacts/import.js';
import { collectColumns, command, option, wholeNumber } from '../command.js';
import type { Context } from '../context.js';
import { CommandEnd } from '../exit-codes.js';
import { startProgress, waitText } from '../progress.js';
import { count, tableOf, type Column } from '../table.js';
import { contactsCsv } from './contacts-csv.js';

interface ListInput {
  readonly search?: string;
  readonly limit: number;
  readonly all?: boolean;
}

interface ImportInput {
  readonly file: string;
  readonly columns?: Readonly<Record<string, string | null>>;
}

interface ExportInput {
  readonly file?: string;
  readonly search?: string;
  readonly force?: boolean;
  readonly raw?: boolean;
}

const search = option('--search <text>', 'a part of the email');

/** `postreel contacts list`, `import` and `export` */
export const contacts = [
  command<ListInput>({
    name: 'contacts list',
    about: 'list contacts; one line of JSON each without a terminal',
    options: [
      search,
      option('--limit <count>', 'the most contacts to list', wholeNumber(1), 20),
      option('--all', 'list every contact'),
    ],
    examples: ['contacts list', 'contacts list --search @example.com --all'],
    run: list,
  }),
  command<ImportInput>({
    name: 'contacts import',
    about: 'import a CSV file of any size, with a column of email addresses',
    args: [['<file>', 'CSV file']],
    options: [
      option(
        '--columns <name=field>',
        'the field of a column; without a field the column is dropped; may be given several times',
        collectColumns,
      ),
    ],
    examples: [
      'contacts import people.csv',
      'contacts import people.csv --columns "Address=email" --columns "Notes=" --yes',
    ],
    plan: async ({ file, columns = {} }, context) => {
      const read = await readThrough(file, columns);
      const messaging = await context.messaging();
      const { size: bytes } = await stat(file);
      const become = Object.entries(columns).map(
        ([name, field]) => `${name}: ${field ?? 'dropped'}`,
      );
      return {
        action: `Import ${count(read.rows, 'contact')}`,
        facts: {
          file,
          bytes,
          rows: read.rows,
          columns: read.columns,
          become: become.length > 0 ? become : undefined,
        },
        run: () => importFile({ file, columns, rows: read.rows }, messaging, context),
      };
    },
  }),
  command<ExportInput>({
    name: 'contacts export',
    about: 'write contacts as CSV, and say what a CSV file cannot carry',
    args: [['[file]', 'CSV file, or stdout without it']],
    options: [
      search,
      option('--force', 'overwrite the file if it exists'),
      option('--raw', 'write texts that a spreadsheet would run as formulas as they are'),
    ],
    examples: ['contacts export people.csv', 'contacts export > people.csv'],
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

/** Reads the file once without keeping it: a slip is told before anything is uploaded. */
async function readThrough(file: string, columns: Readonly<Record<string, string | null>>) {
  const rules = { named: columnsOption(columns), data: {}, warn: () => undefined };
  const read = await survey(createReadStream(file), rules);
  if (read.rows === 0) {
    throw new CommandEnd('rejected', `${file} has no rows below its header.`);
  }
  return read;
}

async function importFile(
  { file, columns, rows }: Required<ImportInput> & { readonly rows: number },
  messaging: Awaited<ReturnType<Context['messaging']>>,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const progress = startProgress(context);
  let done = 0;
  const show = (note: string) => progress.show(file, { done, total: rows, note });
  show('rows');
  messaging.on('throttled', (wait) => show(waitText(wait)));
  messaging.on('call:end', ({ method, error }) => {
    if (method === 'GET' && error !== undefined && !signal.aborted) {
      context.warn(`A check of the import fails, and is made again: ${messageOf(error)}`);
    }
  });
  const result = await messaging.contacts
    .importAll(createReadStream(file), {
      signal,
      columns,
      onProgress: (counts) => {
        done = counts.done + counts.failed + counts.unknown;
        show('rows');
      },
    })
    .finally(() => progress.stop());
  output.result(result, () => `${output.paint('green', 'imported')} ${count(result.done, 'row')}`);
  const { failed, unknown } = result;
  for (const [word, rowsOf] of [['failed', failed] as const, ['unknown', unknown] as const]) {
    for (const line of linesOf(rowsOf)) {
      output.note(`${output.paintNote('red', word)} ${line}`);
    }
  }
  if (failed.length + unknown.length > 0) {
    const end = unknown.length > 0 ? 'unknown' : 'jobFailed';
    throw new CommandEnd(end, 'Some rows were not imported, or may not have been.');
  }
}

/** One line for neighbours that have the same error. */
function linesOf(rows: readonly ReportedRow<unknown>[]): string[] {
  const lines: string[] = [];
  for (let start = 0; start < rows.length;) {
    const { error, index = 0 } = rows[start] ?? {};
    let end = start + 1;
    while (rows[end]?.error === error && end < rows.length) {
      end += 1;
    }
    const why = messageOf(error);
    lines.push(`${count(end - start, 'row')} from row ${index + 1}: ${why}`);
    start = end;
  }
  return lines;
}

async function exportFile(input: ExportInput, context: Context): Promise<void> {
  const { file, search: part, force = false, raw = false } = input;
  const { output, signal } = context;
  if (file !== undefined && !force && existsSync(file)) {
    throw new CommandEnd('failed', `${file} is there already. Add --force to overwrite it.`);
  }
  const messaging = await context.messaging();
  const rows: Record<string, unknown>[] = [];
  for await (const contact of messaging.contacts.list(queryOf(part), { signal })) {
    const { email, subscribed, data } = contact;
    rows.push({ ...data, email, subscribed });
  }
  const { text, notes } = contactsCsv(rows, raw);
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
    () => `${wrote} ${count(rows.length, 'contact')} to ${file}`,
  );
}
