import { isEmail } from '../core/checks.js';
import type { FakeAnswer, FakeRequest, Handlers } from '../core/types.js';
import { showJob, startFailingJob, startJob } from './jobs.js';
import type { Scope } from './state.js';
import { firstFile } from './uploads.js';
import { invalidField } from './resource.js';
import { upsertContact } from './contact-store.js';

/** messaging, Limits: a CSV file is at most 5 MB. */
const maxFileBytes = 5 * 1024 * 1024;

export const importHandlers: Handlers<Scope> = {
  'POST /contacts/import': importCsv,
  'GET /contacts/import/{jobId}': (request, scope) =>
    showJob(request, scope, ({ type }) => type === 'import'),
};

/** The columns of the file are not shown: `email`, `subscribed`, and every other one is a field. */
async function importCsv(request: FakeRequest, scope: Scope): Promise<FakeAnswer> {
  const { name, file } = firstFile(request, 'file');
  if (file.size > maxFileBytes) {
    throw invalidField(name, 'The file must have at most 5 MB.', 'too_large');
  }
  try {
    const [header = [], ...rows] = parseCsv(await file.text());
    return startImport(scope, header, rows);
  } catch (error) {
    return startFailingJob(scope, 'import', String(error));
  }
}

function startImport(scope: Scope, header: string[], rows: string[][]): FakeAnswer {
  const columns = header.map((name) => (/^\s*email\s*$/i.test(name) ? 'email' : name.trim()));
  const emailColumn = columns.indexOf('email');
  if (emailColumn < 0) {
    return startFailingJob(scope, 'import', 'There is no `email` column.');
  }
  return startJob(scope, {
    type: 'import',
    items: rows,
    handle: (row) => importRow(scope, (row[emailColumn] ?? '').trim(), dataOf(columns, row)),
    // Line 1 is the header.
    nameOf: (row, number) => ({
      row: number + 1,
      email: (row[emailColumn] ?? '').trim().toLowerCase(),
    }),
  });
}

function importRow(scope: Scope, email: string, row: Record<string, unknown>) {
  const cell = email === '' ? 'An empty cell' : email;
  if (!isEmail(email)) {
    throw new TypeError(`${cell} is not an email address.`);
  }
  const { subscribed, ...data } = row;
  const { isNew } = upsertContact(scope, email, {
    ...(typeof subscribed === 'boolean' && { subscribed }),
    data,
    defaultSubscribed: true,
    emitSubscription: false,
  });
  return isNew ? 'created' : 'updated';
}

/** The cells by column. Texts that look like numbers or booleans are converted, so that filters can use them. */
function dataOf(columns: readonly string[], row: readonly string[]): Record<string, unknown> {
  const cells = columns.map((name, index) => [name, readCell(row[index] ?? '')] as const);
  return Object.fromEntries(cells.filter(([name]) => name !== ''));
}

function readCell(cell: string): unknown {
  if (cell === 'true' || cell === 'false') {
    return cell === 'true';
  }
  // Leading zeros are significant: a postcode stays a string.
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}

/** Reads CSV (RFC 4180): quoted cells, doubled quotes, line breaks in quotes, CRLF, a byte-order mark. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const { value, end } of cells(text.replace(/^\uFEFF/, ''))) {
    row.push(value);
    if (end === ',') {
      continue;
    }
    // Skip empty lines.
    if (row.length > 1 || row[0] !== '') {
      rows.push(row);
    }
    row = [];
  }
  return rows;
}

interface Cell {
  readonly value: string;
  /** The separator after the field: a comma, a line break, or the end of the text. */
  readonly end: string;
}

/** A quoted or a plain cell and its separator. A quote inside a plain cell is an ordinary character. */
const cellPattern = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n][^,\r\n]*)?)(,|\r\n|\n|\r|$)/y;

function* cells(text: string): Generator<Cell> {
  for (let at = 0; at <= text.length;) {
    const { cell, length } = cellAt(text, at);
    yield cell;
    at += length;
    if (cell.end === '') {
      return;
    }
    // A line break at the end of the file does not start another row.
    if (at === text.length && cell.end !== ',') {
      return;
    }
  }
}

function cellAt(text: string, at: number): { cell: Cell; length: number } {
  cellPattern.lastIndex = at;
  const match = cellPattern.exec(text);
  if (match === null) {
    throw new SyntaxError(`The quotes at character ${at} do not match.`);
  }
  const [whole, quoted, plain = '', end = ''] = match;
  const value = quoted === undefined ? plain : quoted.replaceAll('""', '"');
  return { cell: { value, end }, length: whole.length };
}
