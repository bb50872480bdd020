import { monotonicMs, sleep } from '../../core/async.js';
import { wireValue } from '../../core/body.js';
import { invalidRequest, InvalidRequestError, type ReportedRow } from '../../core/errors.js';
import type { DataOptions } from '../../core/types.js';
import { isBytes, isRecord, type FileInput, type NamedFile } from '../../core/values.js';
import { blocksOf, type Batch, type PlacedRow } from '../bulk.js';
import { CsvDecoder, CsvReader, csvText, type CsvRecord } from '../csv.js';
import { limits } from '../limits.js';
import { isSynchronous, type RowSource } from '../shared/row-source.js';
import { emailKey, emailProblem, normalizeEmail } from '../shared/values.js';
import { columnsOf, requireNamed, type ColumnRules, type Columns } from './import-columns.js';

// Far below the 5 MB that one call takes (Limits, "CSV import"): memory stays flat.
const maxBytes = 512 * 1024;

// So much of a file is decoded before any of it is sent: what cannot be read is refused whole.
const lookAhead = limits.importBytes;

// Rows that are skipped or refused send nothing that would give the event loop its turn.
const maxTurnMs = 20;

/** What an import is told of its rows. */
export interface ImportRules extends ColumnRules {
  /** For rows that do not say whether they are subscribed. */
  readonly subscribed?: boolean | undefined;
}

/** Rows as objects, or the text of a CSV file in pieces: the first one decides. */
export type ImportSource = RowSource<object | string | Uint8Array>;

/** A row that is ready: its cells in the order of its fields. */
interface ReadyRow extends PlacedRow<object> {
  readonly fields: readonly string[];
  readonly cells: readonly string[];
  readonly email: string;
}

type Entry = ReadyRow | (ReportedRow<object> & { readonly cells?: undefined });

/** Cuts the rows of an import into CSV files, each with the columns that its rows have. */
export async function* importBatches(
  rows: ImportSource,
  from: number,
  rules: ImportRules,
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
  rules: ImportRules,
): AsyncGenerator<readonly Entry[], void, undefined> {
  let text: TextRows | undefined;
  let objects: ObjectRows | undefined;
  // What comes piece by piece is not collected: pieces of a text may be large.
  for await (const block of blocksOf(rows, isSynchronous(rows) ? 100 : 1)) {
    for (const piece of block) {
      const isText = isTextPiece(piece);
      if (isText ? objects : text) {
        throw refusal('the rows of an import are objects or text, not both');
      }
      if (isText) {
        text ??= new TextRows(rules);
        yield* text.read(piece);
      } else {
        objects ??= new ObjectRows(rules);
        yield* objects.read(piece);
      }
    }
  }
  yield* text?.end() ?? [];
  yield* objects?.end() ?? [];
}

function isTextPiece(piece: unknown): piece is string | Uint8Array {
  return typeof piece === 'string' || ArrayBuffer.isView(piece);
}

/** The rows of a CSV file that comes in pieces. */
class TextRows {
  readonly #rules: ImportRules;
  readonly #decoder = new CsvDecoder();
  readonly #reader = new CsvReader();
  #layout: Layout | undefined;
  /** The first of its text, until it is long enough. */
  #held: HeldText | undefined = new HeldText();
  #mayBeDamaged = false;
  #index = 0;

  constructor(rules: ImportRules) {
    this.#rules = rules;
  }

  get header(): readonly string[] | undefined {
    return this.#reader.header;
  }

  *read(piece: string | Uint8Array): Generator<readonly Entry[], void, undefined> {
    const text = this.#decoder.decode(piece);
    this.#mayBeDamaged ||= text.includes('\uFFFD');
    if (this.#held === undefined) {
      yield* this.#entries(this.#reader.read(text));
      return;
    }
    this.#held.add(text);
    if (this.#held.length > lookAhead) {
      yield* this.#release();
    }
  }

  *end(): Generator<readonly Entry[], void, undefined> {
    const rest = this.#decoder.end();
    yield* this.#release();
    yield* this.#entries(this.#reader.read(rest));
    yield* this.#entries(this.#reader.end());
    if (this.#index > 0) {
      return;
    }
    if (this.header !== undefined) {
      layoutOf(this.header, this.#rules);
    }
    this.#rules.warn(
      this.header === undefined
        ? 'The CSV file is empty: nothing was imported.'
        : 'The CSV file has a header and no rows below it: nothing was imported.',
    );
  }

  *#release(): Generator<readonly Entry[], void, undefined> {
    const held = this.#held;
    this.#held = undefined;
    for (let text = held?.take(); text !== undefined; text = held?.take()) {
      yield* this.#entries(this.#reader.read(text));
    }
  }

  *#entries(blocks: Iterable<readonly CsvRecord[]>): Generator<readonly Entry[], void, undefined> {
    for (const records of blocks) {
      if (records.length > 0) {
        const layout = this.#layout ?? layoutOf(this.header ?? [], this.#rules);
        this.#layout = layout;
        yield records.map((record) => this.#entry(record, layout));
      }
    }
  }

  #entry({ line, fields, problem }: CsvRecord, layout: Layout): Entry {
    const index = this.#index++;
    // Nearly always all columns are imported, in their order.
    const isWhole = layout.isWhole && fields.length === layout.places.length;
    const cells = isWhole ? fields : layout.places.map((at) => fields[at] ?? '');
    const row = new TextRow(index, layout, cells);
    const refuse = (field: string, message: string): Entry => ({
      row: row.row,
      index,
      error: invalidRequest([{ field, message: `line ${line}: ${message}` }]),
    });
    if (problem !== undefined) {
      return refuse('csv', problem);
    }
    const nameless = layout.nameless.find((at) => (fields[at] ?? '').trim() !== '');
    if (nameless !== undefined) {
      return refuse('csv', `it has a value in column ${nameless + 1}, which has no name`);
    }
    const wrong = checkCells(cells, layout, this.#rules, this.#mayBeDamaged);
    return wrong ? refuse(wrong.field, wrong.message) : row;
  }
}

// Pieces may be single lines: a hundred thousand of them take more memory than their text.
const minBlock = 64 * 1024;

/** Text that waits, in few blocks. */
class HeldText {
  length = 0;
  readonly #blocks: string[] = [];
  #pieces: string[] = [];
  #piecesLength = 0;

  add(piece: string): void {
    this.length += piece.length;
    this.#pieces.push(piece);
    this.#piecesLength += piece.length;
    if (this.#piecesLength >= minBlock) {
      this.#close();
    }
  }

  /** The next block, which is held no longer; `undefined` after the last one. */
  take(): string | undefined {
    if (this.#piecesLength > 0) {
      this.#close();
    }
    return this.#blocks.shift();
  }

  #close(): void {
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
    this.#piecesLength = 0;
  }
}

/** Its object is made when somebody looks at it: nearly no row is reported. */
class TextRow implements ReadyRow {
  readonly index: number;
  readonly cells: readonly string[];
  readonly #layout: Layout;

  constructor(index: number, layout: Layout, cells: readonly string[]) {
    this.index = index;
    this.cells = cells;
    this.#layout = layout;
  }

  get fields(): readonly string[] {
    return this.#layout.fields;
  }

  get email(): string {
    return this.cells[this.#layout.emailAt] ?? '';
  }

  get row(): object {
    return Object.fromEntries(this.fields.map((name, at) => [name, this.cells[at] ?? '']));
  }
}

// So many rows are looked at before a named column is taken for missing.
const heldObjects = 1000;

/** The rows of an import that are objects, such as those of papaparse. */
class ObjectRows {
  readonly #rules: ImportRules;
  /** By the names of the fields; an error where these are no row. */
  readonly #layouts = new Map<string, Layout | InvalidRequestError>();
  #held: Entry[] | undefined;
  #index = 0;

  constructor(rules: ImportRules) {
    const told = new Set<string>();
    const once = (message: string) => {
      if (!told.has(message)) {
        told.add(message);
        rules.warn(message);
      }
    };
    this.#rules = { ...rules, warn: once };
    this.#held = rules.named.size > 0 ? [] : undefined;
  }

  *read(row: object): Generator<readonly Entry[], void, undefined> {
    const entry = this.#entry(row);
    if (this.#held === undefined) {
      yield [entry];
    } else if (this.#held.push(entry) === heldObjects) {
      yield* this.end();
    }
  }

  *end(): Generator<readonly Entry[], void, undefined> {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) {
      requireNamed([...new Set(held.flatMap(({ row }) => namesOf(row)))], this.#rules);
    }
    yield held;
  }

  #entry(row: object): Entry {
    const index = this.#index++;
    try {
      const fields = wireValue(row);
      if (!isRecord(fields)) {
        throw invalidRequest([{ field: 'row', message: notARow(row) }]);
      }
      const { [extraCells]: extra, ...own } = fields; // papaparse's
      if (Array.isArray(extra) && extra.some((cell) => cell !== '')) {
        throw invalidRequest([{ field: extraCells, message: 'has more fields than the header' }]);
      }
      const given = Object.entries(own).filter(([, value]) => value !== undefined);
      const layout = this.#layoutOf(given.map(([name]) => name));
      const cells = layout.places.map((at) => {
        const [name = '', value] = given[at] ?? [];
        return cellOf(name, value, this.#rules.data);
      });
      const wrong = checkCells(cells, layout, this.#rules);
      if (wrong) {
        throw invalidRequest([wrong]);
      }
      return { row, index, fields: layout.fields, cells, email: cells[layout.emailAt] ?? '' };
    } catch (error) {
      return { row, index, error };
    }
  }

  #layoutOf(names: readonly string[]): Layout {
    const key = names.join('\0');
    const known = this.#layouts.get(key);
    const layout = known ?? layoutOrError(names, this.#rules);
    if (known === undefined) {
      if (this.#layouts.size >= 1000) {
        this.#layouts.clear();
      }
      this.#layouts.set(key, layout);
    }
    if (layout instanceof InvalidRequestError) {
      throw layout;
    }
    return layout;
  }
}

function layoutOrError(names: readonly string[], rules: ImportRules): Layout | InvalidRequestError {
  try {
    return layoutOf(names, rules, false);
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return error;
    }
    throw error;
  }
}

/** Where papaparse puts what is beyond the header. */
const extraCells = '__parsed_extra';

function namesOf(row: unknown): readonly string[] {
  return isRecord(row) ? Object.keys(row) : [];
}

function notARow(row: unknown): string {
  return Array.isArray(row)
    ? 'must be an object with an `email`; got a list (papaparse: `header: true`)'
    : 'must be an object with an `email`';
}

/** The columns of a record, and how they are checked. */
interface Layout extends Columns {
  /** Are the cells of a row its fields? */
  readonly isWhole: boolean;
  /** Places among the cells. */
  readonly emailAt: number;
  readonly subscribedAt: number;
}

function layoutOf(names: readonly string[], rules: ImportRules, isFile = true): Layout {
  const columns = columnsOf(names, rules, isFile);
  const hasOwn = columns.fields.includes('subscribed');
  const fields =
    hasOwn || rules.subscribed === undefined ? columns.fields : [...columns.fields, 'subscribed'];
  const places = fields === columns.fields ? columns.places : [...columns.places, names.length];
  return {
    ...columns,
    fields,
    places,
    isWhole: places.every((place, at) => place === at),
    emailAt: fields.indexOf('email'),
    subscribedAt: fields.indexOf('subscribed'),
  };
}

const yes = new Set(['true', 'yes', 'y', '1', 'subscribed']);
const no = new Set(['false', 'no', 'n', '0', 'unsubscribed']);

/** Brings the cells of a row into the form that is sent, or says what is wrong with one. */
function checkCells(
  cells: string[],
  { fields, emailAt, subscribedAt }: Layout,
  { subscribed }: ImportRules,
  mayBeDamaged = true,
): { readonly field: string; readonly message: string } | undefined {
  const email = normalizeEmail(cells[emailAt] ?? '');
  cells[emailAt] = email;
  const problem = emailProblem(email);
  if (problem !== undefined) {
    return { field: 'email', message: problem };
  }
  if (subscribedAt >= 0) {
    const word = (cells[subscribedAt] ?? '').trim().toLowerCase();
    const said = word === '' ? subscribed : yes.has(word) ? true : no.has(word) ? false : null;
    if (said === null) {
      const message = `must be one of ${[...yes, ...no].join(', ')}, or empty`;
      return { field: 'subscribed', message };
    }
    cells[subscribedAt] = said === undefined ? '' : String(said);
  }
  const damaged = mayBeDamaged ? cells.findIndex((cell) => cell.includes('\uFFFD')) : -1;
  return damaged < 0
    ? undefined
    : { field: fields[damaged] ?? '', message: 'holds U+FFFD: it was read in a wrong encoding' };
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
  const scalar = (value ?? '') as string | number | boolean; // a wire value, and no object
  const text = String(scalar);
  if (/\p{Surrogate}/u.test(text)) {
    throw invalidRequest([{ field, message: 'contains an unpaired surrogate' }]);
  }
  return text;
}

/** Rows that go into one file. Its columns are decided when it is full. */
class ImportFile {
  readonly #rows: ReadyRow[] = [];
  readonly #refused: ReportedRow<object>[] = [];
  readonly #columns = new Set<string>();
  readonly #encoder = new TextEncoder();
  readonly #first: number;
  /** The columns of the row before: nearly always they are those of the next one too. */
  #fields: readonly string[] | undefined;
  #headerBytes = 0;
  #cellBytes = 0;
  #next: number;

  constructor(first: number) {
    this.#first = first;
    this.#next = first;
  }

  get hasRows(): boolean {
    return this.#rows.length + this.#refused.length > 0;
  }

  /** Adds a row, unless the file would be too large with it. A row that is too large alone is sent alone. */
  add(entry: Entry): boolean {
    if (entry.cells === undefined) {
      this.#refused.push(entry);
      this.#next = entry.index + 1;
      return true;
    }
    const { fields, cells } = entry;
    const added = fields === this.#fields ? [] : fields.filter((name) => !this.#columns.has(name));
    const headerBytes = this.#headerBytes + this.#bytes(added);
    const cellBytes = this.#cellBytes + this.#bytes(cells);
    const separators = (this.#rows.length + 2) * (this.#columns.size + added.length);
    if (this.#rows.length > 0 && headerBytes + cellBytes + separators > maxBytes) {
      return false;
    }
    for (const name of added) {
      this.#columns.add(name);
    }
    this.#fields = fields;
    this.#headerBytes = headerBytes;
    this.#cellBytes = cellBytes;
    this.#rows.push(entry);
    this.#next = entry.index + 1;
    return true;
  }

  batch(): Batch<object, NamedFile> {
    const columns = [...this.#columns];
    const rows = this.#rows;
    const isOne = rows.every(({ fields }) => fields === this.#fields);
    const data = isOne
      ? rows.map(({ cells }) => cells)
      : rows.map((row) => inColumns(row, columns));
    return {
      body: { data: csvText(columns, data), filename: `contacts-${this.#first}.csv` },
      rows,
      refused: this.#refused,
      next: this.#next,
      get keys() {
        return rows.map(({ email }) => emailKey(email));
      },
      namedBy: 'email',
    };
  }

  // A quote is written twice, and two stand around the cell.
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

function inColumns({ fields, cells }: ReadyRow, columns: readonly string[]): readonly string[] {
  const places = new Map(fields.map((name, at) => [name, at]));
  return columns.map((name) => cells[places.get(name) ?? -1] ?? '');
}

// eslint-disable-next-line no-control-regex -- every character of one byte
const isAscii = /^[\x00-\x7f]*$/;
/** The same without what is written in quotes. */
const isPlain = /^[ !#-+\--~]*$/;

/** Reads through a file without keeping it, and throws what an import of it would refuse. */
export async function survey(
  pieces: RowSource<string | Uint8Array>,
  rules: ImportRules,
): Promise<{ readonly rows: number; readonly columns: readonly string[] }> {
  const text = new TextRows(rules);
  let rows = 0;
  for await (const [piece = ''] of blocksOf(pieces, 1)) {
    for (const entries of text.read(piece)) {
      rows += entries.length;
    }
  }
  for (const entries of text.end()) {
    rows += entries.length;
  }
  return { rows, columns: text.header ?? [] };
}

// So many slips of a file are named.
const maxSlips = 10;

/**
 * Checks a file that goes to the service as it is: what the service could misread is refused. A wrong address
 * is left to the job, which names it. Resolves to a copy, so that nothing changes in it any more.
 */
export async function checkedFile(
  file: FileInput,
  rules: ImportRules,
): Promise<NamedFile | undefined> {
  const named = namedFile(file);
  const data = named?.data;
  const isData = typeof data === 'string' || data instanceof Blob || isBytes(data);
  const blob = isData ? new Blob([data as BlobPart]) : undefined; // bytes on any buffer
  if (!blob || blob.size > limits.importBytes) {
    return undefined; // refused, with its reason, when the call is built
  }
  const slips = slipsOf(new Uint8Array(await blob.arrayBuffer()), rules);
  if (slips.length > 0) {
    const shown = slips.slice(0, maxSlips).join('; ');
    const more = slips.length > maxSlips ? `; and ${slips.length - maxSlips} more` : '';
    throw refusal(
      `The service could misread this file: ${shown}${more}. \`contacts.importAll()\` takes it as it is`,
    );
  }
  return { ...named, data: blob };
}

/** The data of a file with its own name and type, where it has them. */
function namedFile(file: FileInput): NamedFile | undefined {
  if (typeof file === 'string') {
    return undefined; // a path, most likely
  }
  const given = isRecord(file) && 'data' in file ? (file as NamedFile) : { data: file as Blob };
  const { name, type } = Object(given.data) as Partial<File>; // or anything
  const { filename = name, contentType = type === '' ? undefined : type }: NamedFile = given;
  return { ...given, filename, contentType };
}

function slipsOf(bytes: Uint8Array, rules: ImportRules): string[] {
  const decoder = new CsvDecoder();
  const text = decoder.decode(bytes) + decoder.end();
  const reader = new CsvReader();
  const records = [...reader.read(text), ...reader.end()].flat();
  const header = reader.header ?? [];
  const layout = layoutOf(header, rules);
  const slips: string[] = [];
  if (decoder.encoding !== 'utf-8') {
    slips.push(`it is ${(decoder.encoding ?? '').toUpperCase()}, not UTF-8`);
  }
  if (reader.separator !== ',' || /^"?sep=/i.test(text)) {
    slips.push('its fields are not separated by commas alone');
  }
  if (!header.some((name) => /^email$/i.test(name))) {
    slips.push('its column of addresses is not called `email`');
  }
  if (new Set(header).size < header.length) {
    slips.push('a column comes twice');
  }
  const subscribedAt = header.findIndex((name) => /^subscribed$/i.test(name));
  for (const { line, fields, problem } of records) {
    const word = fields[subscribedAt]?.trim() ?? '';
    if (problem !== undefined) {
      slips.push(`line ${line}: ${problem}`);
    } else if (layout.nameless.some((at) => (fields[at] ?? '').trim() !== '')) {
      slips.push(`line ${line}: it has a value in a column without a name`);
    } else if (!['', 'true', 'false'].includes(word)) {
      slips.push(`line ${line}: \`subscribed\` is neither true nor false`);
    }
  }
  if (records.length === 0) {
    rules.warn('The CSV file has a header and no rows below it: nothing will be imported.');
  }
  return slips;
}

function refusal(message: string): Error {
  return invalidRequest([{ field: '', message }]);
}
