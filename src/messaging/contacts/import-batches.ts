import { monotonicMs, sleep } from '../../core/async.js';
import type { DataOptions } from '../../core/types.js';
import { isRecord, type NamedFile } from '../../core/values.js';
import { invalidRequest, type ReportedRow } from '../../core/errors.js';
import { wireValue } from '../../core/body.js';
import { blocksOf, type RowSource, isSynchronous } from '../shared/row-source.js';
import { isEmail } from '../shared/values.js';
import type { Batch } from './change-many.js';
import { CsvDecoder } from './csv-decoder.js';
import { CsvReader, type CsvRecord } from './csv-reader.js';
import { csvText } from './csv-text.js';

// Far below the 5 MB that one call takes (Limits, "CSV import"): memory stays flat.
const maxBytes = 512 * 1024;

// Rows that are skipped or refused send nothing that would give the event loop its turn.
const maxTurnMs = 20;

type Cells = Readonly<Record<string, string>>;

/** One row of an import: what goes into its cells, or why it is refused. */
type ImportEntry =
  | { readonly row: object; readonly index: number; readonly cells: Cells }
  | (ReportedRow<object> & { readonly cells?: undefined });

/** Rows as objects, or the text of a CSV file in pieces: the first one decides. */
export type ImportSource = RowSource<object | string | Uint8Array>;

/** Cuts the rows of an import into CSV files, each with the columns that its rows have. */
export async function* importBatches(
  rows: ImportSource,
  from: number,
  rules: DataOptions,
): AsyncGenerator<Batch<object, NamedFile>, void, undefined> {
  let file = new ImportFile(from);
  let turnAt = monotonicMs();
  for await (const entries of entriesOf(rows, rules)) {
    if (monotonicMs() - turnAt > maxTurnMs) {
      await sleep(0, undefined);
      turnAt = monotonicMs();
    }
    for (const entry of entries) {
      if (entry.index < from) {
        continue;
      }
      if (!file.add(entry)) {
        yield file.batch();
        file = new ImportFile(entry.index);
        file.add(entry);
      }
    }
  }
  if (file.hasRows) {
    yield file.batch();
  }
}

async function* entriesOf(
  rows: ImportSource,
  rules: DataOptions,
): AsyncGenerator<readonly ImportEntry[], void, undefined> {
  const decoder = new CsvDecoder();
  const reader = new CsvReader();
  let isText: boolean | undefined;
  let index = 0;
  const entryOf = ({ cells, problem }: CsvRecord): ImportEntry =>
    problem === undefined
      ? { row: cells, index: index++, cells }
      : { row: cells, index: index++, error: invalidRequest([{ field: 'csv', message: problem }]) };
  // What comes piece by piece is not collected: pieces of a text may be large.
  for await (const block of blocksOf(rows, isSynchronous(rows) ? 100 : 1)) {
    for (const piece of block) {
      isText ??= isTextPiece(piece);
      if (isText !== isTextPiece(piece)) {
        throw invalidRequest([
          { field: '', message: 'the rows of an import are objects or text, not both' },
        ]);
      }
      if (!isTextPiece(piece)) {
        yield [objectEntry(piece, index++, rules)];
        continue;
      }
      for (const records of reader.read(decoder.decode(piece))) {
        yield records.map(entryOf);
      }
    }
  }
  if (isText) {
    for (const records of [...reader.read(decoder.end()), ...reader.end()]) {
      yield records.map(entryOf);
    }
  }
}

function isTextPiece(piece: unknown): piece is string | Uint8Array {
  return typeof piece === 'string' || ArrayBuffer.isView(piece);
}

function objectEntry(row: object, index: number, rules: DataOptions): ImportEntry {
  try {
    return { row, index, cells: cellsOf(row, rules) };
  } catch (error) {
    return { row, index, error };
  }
}

/** A row goes through the law of bodies, and each of its values into a cell as it is meant, or not at all. */
function cellsOf(row: unknown, rules: DataOptions): Cells {
  const fields = wireValue(row);
  if (!isRecord(fields)) {
    throw invalidRequest([{ field: 'row', message: 'must be an object with an `email`' }]);
  }
  if (!isEmail(fields['email'])) {
    throw invalidRequest([{ field: 'email', message: 'must be an email address' }]);
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([field, value]) => [field, cellOf(field, value, rules)]));
}

function cellOf(field: string, value: unknown, { emptyString }: DataOptions): string {
  const isEmpty = value === null || (value === '' && emptyString === 'delete');
  if (isEmpty) {
    const message = 'cannot be deleted by an import: an empty cell changes nothing';
    throw invalidRequest([{ field, message }]);
  }
  if (value === '' && emptyString === 'throw') {
    throw invalidRequest([{ field, message: 'is an empty string, which the service ignores' }]);
  }
  if (typeof value === 'object') {
    throw invalidRequest([
      { field, message: 'cannot be written into a cell; got an object or a list' },
    ]);
  }
  const scalar = value as string | number | boolean; // a wire value, and no object
  const text = String(scalar);
  if (/\p{Surrogate}/u.test(text)) {
    throw invalidRequest([{ field, message: 'contains an unpaired surrogate' }]);
  }
  return text;
}

/** Rows that go into one file. Its columns are decided when it is full. */
class ImportFile {
  readonly #rows: { row: object; index: number; cells: Cells }[] = [];
  readonly #refused: ReportedRow<object>[] = [];
  readonly #columns = new Set<string>();
  readonly #encoder = new TextEncoder();
  readonly #first: number;
  #headerBytes = 0;
  #cellBytes = 0;
  #to: number;

  constructor(first: number) {
    this.#first = first;
    this.#to = first;
  }

  get hasRows(): boolean {
    return this.#rows.length + this.#refused.length > 0;
  }

  /** Adds a row, unless the file would be too large with it. A row that is too large alone is sent alone. */
  add(entry: ImportEntry): boolean {
    if (entry.cells === undefined) {
      this.#refused.push(entry);
      this.#to = entry.index + 1;
      return true;
    }
    const added = Object.keys(entry.cells).filter((name) => !this.#columns.has(name));
    const headerBytes = this.#headerBytes + this.#bytes(added);
    const cellBytes = this.#cellBytes + this.#bytes(Object.values(entry.cells));
    const lines = this.#rows.length + 2;
    const separators = lines * (this.#columns.size + added.length);
    if (this.#rows.length > 0 && headerBytes + cellBytes + separators > maxBytes) {
      return false;
    }
    for (const name of added) {
      this.#columns.add(name);
    }
    this.#headerBytes = headerBytes;
    this.#cellBytes = cellBytes;
    this.#rows.push(entry);
    this.#to = entry.index + 1;
    return true;
  }

  batch(): Batch<object, NamedFile> {
    const fields = [...this.#columns];
    const data = this.#rows.map(({ cells }) =>
      fields.map((name) => (Object.hasOwn(cells, name) ? (cells[name] ?? '') : '')),
    );
    return {
      body: { data: csvText(fields, data), filename: `contacts-${this.#first}.csv` },
      rows: this.#rows,
      refused: this.#refused,
      to: this.#to,
    };
  }

  // A quote is written twice, and two stand around the cell.
  #bytes(cells: readonly string[]): number {
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

// eslint-disable-next-line no-control-regex -- every character of one byte
const isAscii = /^[\x00-\x7f]*$/;
