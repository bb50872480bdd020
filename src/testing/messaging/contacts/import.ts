import type { FakeAnswer, FakeRequest, Handlers } from '../../core/types.js';
import { parseCsv } from '../jobs/csv.js';
import { showJob, startFailingJob, startJob } from '../jobs/jobs.js';
import type { Scope } from '../state.js';
import { firstFile } from '../uploads/form.js';
import { invalidField, isEmail } from '../validate.js';
import { upsertContact } from './store.js';

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

/** Cells by column; numbers and booleans become what they look like, so that filters can use them. */
function dataOf(columns: readonly string[], row: readonly string[]): Record<string, unknown> {
  const cells = columns.map((name, index) => [name, readCell(row[index] ?? '')] as const);
  return Object.fromEntries(cells.filter(([name]) => name !== ''));
}

function readCell(cell: string): unknown {
  if (cell === 'true' || cell === 'false') {
    return cell === 'true';
  }
  // Leading zeros mean something: a postcode stays a text.
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}
