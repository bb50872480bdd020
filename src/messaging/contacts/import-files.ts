import { invalidRequest, type ReportedRow } from '../../core/errors.js';
import type { NamedFile } from '../../core/values.js';
import type { Batch } from '../bulk.js';
import type { ContactLookup, ContactLookupResult } from '../contacts.types.js';
import { formatCsv } from '../csv.js';
import { limits } from '../limits.js';
import { emailKey } from '../shared/values.js';
import type { ImportEntry, ReadyRow } from './import-rows.js';

/**
 * Splits the rows of an import into files. Consecutive rows are collected into a stretch of at most 512 KB. A stretch
 * is sent in rounds. A round has at most two files, because the meaning of an empty cell is not documented: one file
 * with a column `subscribed` for the rows that have a value, and one file without it for the other rows. Nearly
 * every stretch needs one round. A row is held for the next round if an earlier row with the same address
 *
 * | is                                     | reason                                                |
 * | -------------------------------------- | ----------------------------------------------------- |
 * | in the other file of this round        | the service may process the two files in any order    |
 * | in this round, and creates the contact | this row must be looked up after the contact exists   |
 * | held for the next round                | the rows of an address keep their order               |
 *
 * Only the last file of a stretch advances the index at which an import resumes.
 */

// Far below the 5 MB limit of one call (Limits, "CSV import"), to keep memory use constant.
const maxBytes = 512 * 1024;

/** Finds out which of the addresses belong to contacts. */
export type LookUpContacts = (body: ContactLookup) => PromiseLike<ContactLookupResult>;

/** Consecutive rows of an import. */
export class Stretch {
  readonly rows: ReadyRow[] = [];
  readonly refused: ReportedRow<object>[] = [];
  readonly #columns = new Set<string>();
  readonly #encoder = new TextEncoder();
  #fields: readonly string[] | undefined;
  #headerBytes = 0;
  #cellBytes = 0;
  readonly #first: number;
  #next: number;

  constructor(first: number) {
    this.#first = first;
    this.#next = first;
  }

  /** The index of the row after the last row of the stretch. */
  get next(): number {
    return this.#next;
  }

  get first(): number {
    return this.#first;
  }

  get hasRows(): boolean {
    return this.rows.length + this.refused.length > 0;
  }

  /** The number of files that one round needs. */
  get files(): number {
    return new Set(
      this.rows.map(({ subscribed, isLookedUp }) => isLookedUp || subscribed !== undefined),
    ).size;
  }

  /** Adds a row. Returns `false` if a file would then be too large. A row that is too large alone is sent alone. */
  add(entry: ImportEntry): boolean {
    if (entry.cells === undefined) {
      this.refused.push(entry);
      this.#next = entry.index + 1;
      return true;
    }
    const { fields, cells, subscribed, isLookedUp } = entry;
    const added = fields === this.#fields ? [] : fields.filter((name) => !this.#columns.has(name));
    const headerBytes = this.#headerBytes + this.#bytes(added);
    const extraBytes = isLookedUp || subscribed !== undefined ? subscribedBytes : 0;
    const cellBytes = this.#cellBytes + this.#bytes(cells) + extraBytes;
    const separators = (this.rows.length + 2) * (this.#columns.size + added.length);
    if (this.rows.length > 0 && headerBytes + cellBytes + separators > maxBytes) {
      return false;
    }
    for (const name of added) {
      this.#columns.add(name);
    }
    this.#fields = fields;
    this.#headerBytes = headerBytes;
    this.#cellBytes = cellBytes;
    this.rows.push(entry);
    this.#next = entry.index + 1;
    return true;
  }

  // The size of the cells in CSV: a quoted cell has a quote on each side, and each quote inside it is doubled.
  #bytes(cells: readonly string[]): number {
    const text = cells.join('');
    if (isPlain.test(text)) {
      return text.length + 2 * cells.length;
    }
    let bytes = 0;
    for (const cell of cells) {
      const quoted = /["\n\r,]/.test(cell)
        ? cell.replaceAll('"', '""').length - cell.length + 2
        : 2;
      bytes += quoted + (isAscii.test(cell) ? cell.length : this.#encoder.encode(cell).length);
    }
    return bytes;
  }
}

const subscribedBytes = ',false'.length;

// eslint-disable-next-line no-control-regex -- every character of one byte
const isAscii = /^[\x00-\x7f]*$/;
/** Printable ASCII without the quote and the comma: a text of one byte per character that needs no quotes. */
const isPlain = /^[ !#-+\--~]*$/;

/** Yields the files of a stretch. The caller sends each file before it requests the next one. */
export async function* filesOf(
  stretch: Stretch,
  lookUp: LookUpContacts,
): AsyncGenerator<Batch<object, NamedFile>, void, undefined> {
  const { first, next } = stretch;
  let rows: readonly ReadyRow[] = stretch.rows;
  let refused: readonly ReportedRow<object>[] = stretch.refused;
  while (rows.length + refused.length > 0) {
    const round = divideRows(rows, await findExisting(rows, lookUp));
    refused = [...refused, ...round.refused];
    const files = [round.withSubscribed, round.withoutSubscribed]
      .filter(({ length }) => length > 0)
      .sort(([one], [other]) => indexOf(one) - indexOf(other));
    for (const [at, file] of (files.length > 0 ? files : [[]]).entries()) {
      const isLast = round.held.length === 0 && at >= files.length - 1;
      yield fileOf(file, { first, refused, next: isLast ? next : first });
      refused = [];
    }
    rows = round.held;
  }
}

/** A row with the `subscribed` value that is sent for it. */
interface FileRow {
  readonly row: ReadyRow;
  readonly subscribed: boolean | undefined;
}

function indexOf(fileRows: FileRow | undefined): number {
  return fileRows?.row.index ?? 0;
}

interface ImportRound {
  readonly withSubscribed: FileRow[];
  readonly withoutSubscribed: FileRow[];
  /** The rows that wait for the next round. */
  readonly held: ReadyRow[];
  readonly refused: ReportedRow<object>[];
}

function divideRows(
  rows: readonly ReadyRow[],
  existsByEmail: ReadonlyMap<string, boolean>,
): ImportRound {
  const round: ImportRound = { withSubscribed: [], withoutSubscribed: [], held: [], refused: [] };
  const files = new Map<string, FileRow[]>(); // the file of each address
  const held = new Set<string>();
  const hasSubscribed = rows[0]?.subscribed !== undefined;
  const isOneFile = rows.every(
    ({ isLookedUp, subscribed }) => !isLookedUp && (subscribed !== undefined) === hasSubscribed,
  );
  for (const row of rows) {
    const exists = row.isLookedUp ? existsByEmail.get(emailKey(row.email)) : undefined;
    if (row.isLookedUp && exists === undefined) {
      round.refused.push({ row: row.row, index: row.index, error: notLookedUpError() });
      continue;
    }
    const subscribed = exists === false ? false : row.subscribed;
    const file = subscribed === undefined ? round.withoutSubscribed : round.withSubscribed;
    if (!isOneFile) {
      const key = emailKey(row.email);
      const earlier = files.get(key);
      if (held.has(key) || (earlier && (earlier !== file || exists === false))) {
        held.add(key);
        round.held.push(row);
        continue;
      }
      files.set(key, file);
    }
    file.push({ row, subscribed });
  }
  return round;
}

/**
 * Looks up the contacts of the rows that have `isLookedUp`. The result says by address whether the contact exists.
 */
async function findExisting(
  rows: readonly ReadyRow[],
  lookUp: LookUpContacts,
): Promise<ReadonlyMap<string, boolean>> {
  const emails = new Map<string, string>();
  for (const { email, isLookedUp } of rows) {
    if (isLookedUp) {
      emails.set(emailKey(email), email);
    }
  }
  const all = [...emails.values()];
  const existsByEmail = new Map<string, boolean>();
  for (let at = 0; at < all.length; at += limits.lookupEmails) {
    const result = await lookUp({ emails: all.slice(at, at + limits.lookupEmails) });
    for (const [name, exists] of [
      ['notFound', false],
      ['found', true],
    ] as const) {
      const list: unknown = result[name];
      for (const email of Array.isArray(list) ? (list as unknown[]) : []) {
        const text =
          typeof email === 'string' ? email : (Object(email) as { email?: unknown }).email;
        if (typeof text === 'string') {
          existsByEmail.set(emailKey(text), exists);
        }
      }
    }
  }
  return existsByEmail;
}

function notLookedUpError(): Error {
  const message =
    'is in neither list of `contacts.lookup()`, so it is not known whether the contact exists. Nothing was sent for this row';
  return invalidRequest([{ field: 'email', message }]);
}

interface FileFacts extends Pick<Batch<object, NamedFile>, 'refused' | 'next'> {
  readonly first: number;
}

function fileOf(
  fileRows: readonly FileRow[],
  { first, refused, next }: FileFacts,
): Batch<object, NamedFile> {
  const rows = fileRows.map(({ row }) => row);
  const columns = [
    ...new Set(rows.flatMap(({ fields }, at) => (fields === rows[at - 1]?.fields ? [] : fields))),
  ];
  const isOne = rows.every(({ fields }) => fields === rows[0]?.fields);
  const cellsOf = isOne
    ? (row: ReadyRow) => row.cells
    : (row: ReadyRow) => orderCells(row, columns);
  const hasSubscribed = fileRows[0]?.subscribed !== undefined;
  const data = fileRows.map(({ row, subscribed }) =>
    hasSubscribed ? [...cellsOf(row), String(subscribed)] : cellsOf(row),
  );
  const header = hasSubscribed ? [...columns, 'subscribed'] : columns;
  return {
    body: { data: formatCsv(header, data), filename: `contacts-${first}.csv` },
    rows,
    refused,
    next,
    get keys() {
      return rows.map(({ email }) => emailKey(email));
    },
    namedBy: 'email',
  };
}

function orderCells({ fields, cells }: ReadyRow, columns: readonly string[]): readonly string[] {
  const places = new Map(fields.map((name, at) => [name, at]));
  return columns.map((name) => cells[places.get(name) ?? -1] ?? '');
}
