import { writeFile } from 'node:fs/promises';
import { csvText } from '../../../../messaging/csv.js';
import type { Context } from '../../../context.js';

interface ExportFlags {
  readonly search?: string;
  readonly force?: boolean;
}

/** `postreel contacts export` */
export async function exportContacts(
  file: string | undefined,
  { search, force = false }: ExportFlags,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const rows = await readRows(search, context);
  for (const loss of lossesOf(rows)) {
    output.note(`${output.paintNote('yellow', 'note')} ${loss}`);
  }
  const text = csvOf(rows);
  if (file === undefined) {
    output.raw(text);
    return;
  }
  await writeFile(file, text, { signal, flag: force ? 'w' : 'wx', mode: 0o600 });
  const result = { file, contacts: rows.length };
  output.result(
    result,
    () => `${output.paint('green', 'wrote')} ${rows.length} contacts to ${file}`,
  );
}

async function readRows(search: string | undefined, context: Context) {
  const messaging = await context.messaging();
  const query = search === undefined ? {} : { search };
  const rows: Record<string, unknown>[] = [];
  for await (const contact of messaging.contacts.list(query, { signal: context.signal })) {
    const { email, subscribed, data } = contact;
    rows.push({ ...data, email, subscribed });
  }
  return rows;
}

/** What a CSV file cannot carry back: it has texts only. */
function lossesOf(rows: readonly Record<string, unknown>[]): string[] {
  const structured = new Set<string>();
  const alike = new Set<string>();
  for (const [name, value] of rows.flatMap((row) => Object.entries(row))) {
    if (typeof value === 'object' && value !== null) {
      structured.add(name);
    } else if (typeof value === 'string' && /^(true|false|-?\d+(\.\d+)?)$/i.test(value)) {
      alike.add(name);
    }
  }
  const list = (names: Set<string>) => [...names].map((name) => `\`${name}\``).join(', ');
  return [
    ...(structured.size > 0
      ? [
          `${list(structured)}: lists and objects become text; importing the file would store them as text.`,
        ]
      : []),
    ...(alike.size > 0
      ? [
          `${list(alike)}: some texts look like numbers or booleans; importing the file may store them as such.`,
        ]
      : []),
  ];
}

/** CSV with one header for all rows, the email first. */
function csvOf(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(['email', 'subscribed', ...rows.flatMap((row) => Object.keys(row))])];
  const cells = rows.map((row) => names.map((name) => cellOf(row[name])));
  return csvText(names, cells);
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
