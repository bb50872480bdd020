import { toJsonValue } from '../../core/call/body.js';
import { invalidRequest, InvalidRequestError, type ReportedRow } from '../../core/errors.js';
import type { DataOptions } from '../../core/types.js';
import { isDate, isRecord } from '../../core/values.js';
import { blocksOf, type PlacedRow } from '../bulk.js';
import { CsvDecoder, CsvReader, type CsvRecord } from '../csv.js';
import { limits } from '../limits.js';
import { dateTextProblem } from '../shared/data.js';
import { isSynchronous, type RowSource } from '../shared/row-source.js';
import { isReadRecord, recordFields } from '../shared/read-record.js';
import { emailProblem, normalizeEmail } from '../shared/values.js';
import {
  columnsOf,
  extraCells,
  keyOf,
  proposeRead,
  requireKeys,
  subscriptionTarget,
  type ColumnRules,
  type Columns,
  type ColumnTarget,
} from './import-columns.js';

/** Reads and checks the rows of an import, and converts their cells to the form that is sent. */

// This many characters of a file are decoded before the first row is sent, so that an unreadable file sends nothing.
const lookAhead = limits.importBytes;

/** How an import treats its rows. */
export interface ImportRules extends ColumnRules {
  /** The subscription of rows without a value. It applies to existing contacts too. */
  readonly subscribed?: boolean | undefined;
  /** The subscription of rows without a value whose contact does not exist yet. */
  readonly newContacts?: 'subscribed' | 'unsubscribed' | undefined;
  /** The character that separates the fields of a file. */
  readonly separator?: string | undefined;
}

/** Rows as objects, or the pieces of a CSV file. The first element decides which of the two is expected. */
export type ImportSource = RowSource<object | string | Uint8Array>;

/** A row that is ready to be sent. Its cells are in the order of its fields; the subscription is not one of them. */
export interface ReadyRow extends PlacedRow<object>, Subscription {
  readonly fields: readonly string[];
  readonly cells: readonly string[];
  readonly email: string;
}

export type ImportEntry = ReadyRow | (ReportedRow<object> & { readonly cells?: undefined });

/** Whether the contact of a row is subscribed. */
interface Subscription {
  /** The value of the row; `undefined` if the row has none. */
  readonly ownSubscribed: boolean | undefined;
  /** The value that is sent for the row; `undefined` sends none. */
  readonly subscribed: boolean | undefined;
  /** If true, the contact is looked up first, and gets `subscribed: false` if it does not exist yet. */
  readonly isLookedUp: boolean;
  /**
   * Whether the row is a record that was read from the service or a database: `subscribed: true` is not sent
   * for it.
   */
  readonly isRecord: boolean;
}

interface RowProblem {
  readonly field: string;
  readonly message: string;
}

/** Yields the rows of an import in blocks, each ready to be sent or with its error. */
export async function* readRows(
  rows: ImportSource,
  rules: ImportRules,
): AsyncGenerator<readonly ImportEntry[], void, undefined> {
  let text: TextRows | undefined;
  let objects: ObjectRows | undefined;
  // Elements of an asynchronous source are not collected into blocks: the pieces of a text may be large.
  for await (const block of blocksOf(rows, isSynchronous(rows) ? 100 : 1)) {
    for (const piece of block) {
      const isText = isTextPiece(piece);
      if (isText ? objects : text) {
        throw invalidRow('the rows of an import are objects or text, not both');
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

/** Reads the rows of a CSV file that arrives in pieces. */
export class TextRows {
  readonly #rules: ImportRules;
  readonly #decoder = new CsvDecoder();
  readonly #reader: CsvReader;
  readonly #dates: DateCheck;
  #layout: Layout | undefined;
  /** The start of the file, held back until more than `lookAhead` characters are decoded. */
  #held: BufferedText | undefined = new BufferedText();
  #mayBeDamaged = false;
  #index = 0;

  constructor(rules: ImportRules) {
    this.#rules = rules;
    this.#reader = new CsvReader(rules.separator);
    this.#dates = new DateCheck(rules.warn);
  }

  get header(): readonly string[] | undefined {
    return this.#reader.header;
  }

  *read(piece: string | Uint8Array): Generator<readonly ImportEntry[], void, undefined> {
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

  *end(): Generator<readonly ImportEntry[], void, undefined> {
    const rest = this.#decoder.end();
    yield* this.#release();
    yield* this.#entries(this.#reader.read(rest));
    yield* this.#entries(this.#reader.end());
    if (this.#index > 0) {
      return;
    }
    if (this.header !== undefined) {
      fileLayout(this.header, this.#rules);
    }
    this.#rules.warn(
      this.header === undefined
        ? 'The CSV file is empty: nothing was imported.'
        : 'The CSV file has a header and no rows below it: nothing was imported.',
    );
  }

  *#release(): Generator<readonly ImportEntry[], void, undefined> {
    const held = this.#held;
    this.#held = undefined;
    for (let text = held?.take(); text !== undefined; text = held?.take()) {
      yield* this.#entries(this.#reader.read(text));
    }
  }

  *#entries(
    blocks: Iterable<readonly CsvRecord[]>,
  ): Generator<readonly ImportEntry[], void, undefined> {
    for (const records of blocks) {
      if (records.length > 0) {
        const layout = this.#layout ?? fileLayout(this.header ?? [], this.#rules);
        this.#layout = layout;
        yield records.map((record) => this.#entry(record, layout));
      }
    }
  }

  #entry({ line, fields, problem }: CsvRecord, layout: Layout): ImportEntry {
    const index = this.#index++;
    const checked = problem === undefined ? this.#checked(fields, layout) : csvProblem(problem);
    if (!('message' in checked)) {
      return new TextRow(index, layout, fields, checked);
    }
    const { field, message } = checked;
    const error = invalidRequest([{ field, message: `line ${line}: ${message}` }]);
    return { row: createRowObject(layout.names, fields), index, error };
  }

  #checked(fields: readonly string[], layout: Layout): CheckedCells | RowProblem {
    const nameless = namelessProblem(layout, (at) => fields[at]);
    if (nameless) {
      return nameless;
    }
    // Nearly every import takes all columns in their order: then the fields are the cells.
    const isWhole = layout.isWhole && fields.length === layout.indexes.length;
    const cells = isWhole ? fields : layout.indexes.map((at) => fields[at] ?? '');
    const word = layout.subscribedIndex < 0 ? undefined : (fields[layout.subscribedIndex] ?? '');
    const given = { cells, word, isRecord: layout.isRecord };
    const checks = { rules: this.#rules, dates: this.#dates, mayBeDamaged: this.#mayBeDamaged };
    return checkRow(given, layout, checks);
  }
}

function csvProblem(message: string): RowProblem {
  return { field: 'csv', message };
}

/** Builds the object that a report shows for a row of a file: the text of every column under its name. */
function createRowObject(names: readonly string[], texts: readonly string[]): object {
  const row: Record<string, unknown> = Object.fromEntries(
    names.map((name, at) => [name, texts[at] ?? '']),
  );
  if (texts.length > names.length) {
    row[extraCells] = texts.slice(names.length);
  }
  return row;
}

// Pieces may be single lines: a hundred thousand strings take more memory than their text in one string.
const minBlock = 64 * 1024;

/** Text that is held back, joined into a few large blocks. */
class BufferedText {
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

  /** Removes and returns the next block. Returns `undefined` after the last one. */
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

/** A row of a CSV file. Its object is built on demand, because very few rows are reported. */
class TextRow implements ReadyRow {
  readonly index: number;
  readonly cells: readonly string[];
  readonly ownSubscribed: boolean | undefined;
  readonly subscribed: boolean | undefined;
  readonly isLookedUp: boolean;
  readonly isRecord: boolean;
  readonly #layout: Layout;
  readonly #texts: readonly string[];

  constructor(index: number, layout: Layout, texts: readonly string[], checked: CheckedCells) {
    this.index = index;
    this.cells = checked.cells;
    this.ownSubscribed = checked.ownSubscribed;
    this.subscribed = checked.subscribed;
    this.isLookedUp = checked.isLookedUp;
    this.isRecord = checked.isRecord;
    this.#layout = layout;
    this.#texts = texts;
  }

  get fields(): readonly string[] {
    return this.#layout.fields;
  }

  get email(): string {
    return this.cells[this.#layout.emailIndex] ?? '';
  }

  get row(): object {
    return createRowObject(this.#layout.names, this.#texts);
  }
}

// The number of rows that are read before the import is rejected because none of them has a required column.
const heldObjects = 1000;

/** Reads the rows of an import that are objects, such as those of papaparse. */
class ObjectRows {
  readonly #rules: ImportRules;
  readonly #dates: DateCheck;
  /** The layout by the names of the fields, or the error if these names are not valid for a row. */
  readonly #layouts = new Map<string, Layout | InvalidRequestError>();
  /** The first rows, until their keys have been checked. */
  #held: ImportEntry[] | undefined = [];
  readonly #keys = new Set<string>();
  #index = 0;

  constructor(rules: ImportRules) {
    const warned = new Set<string>();
    const warn = (message: string) => {
      if (!warned.has(message)) {
        warned.add(message);
        rules.warn(message);
      }
    };
    this.#rules = { ...rules, warn };
    this.#dates = new DateCheck(warn);
  }

  *read(row: object): Generator<readonly ImportEntry[], void, undefined> {
    const entry = this.#entry(row);
    if (this.#held === undefined) {
      yield [entry];
    } else if (this.#held.push(entry) === heldObjects) {
      yield* this.end();
    }
  }

  *end(): Generator<readonly ImportEntry[], void, undefined> {
    const held = this.#held ?? [];
    this.#held = undefined;
    if (held.length > 0) {
      requireKeys([...this.#keys], this.#rules);
    }
    yield held;
  }

  #entry(row: object): ImportEntry {
    const index = this.#index++;
    try {
      const fields = toJsonValue(row);
      if (!isRecord(fields)) {
        throw invalidRequest([{ field: 'row', message: notARow(row) }]);
      }
      const checked = this.#checked(fields);
      return { row, index, ...checked };
    } catch (error) {
      return { row, index, error };
    }
  }

  #checked({ [extraCells]: extra, ...given }: Record<string, unknown>) {
    if (this.#held) {
      Object.keys(given).forEach((name) => this.#keys.add(name));
    }
    if (hasText(extra)) {
      throw invalidRequest([{ field: extraCells, message: 'has more fields than the header' }]);
    }
    const isOneRecord = isReadRecord(given);
    const [own, data] = partsOf(given, isOneRecord, this.#rules);
    const layout = this.#layoutOf(
      own.map(([name]) => name),
      data.map(([name]) => name),
    );
    const values = [...own, ...data].map(([, value]) => value);
    const nameless = namelessProblem(layout, (at) => textOf(values[at]));
    if (nameless) {
      throw invalidRequest([nameless]);
    }
    const cells = layout.indexes.map((at, place) =>
      layout.readers?.[place]
        ? textOf(values[at])
        : cellOf(layout.fields[place] ?? '', values[at], this.#rules.data),
    );
    const isRecordRow = layout.isRecord || (isOneRecord && layout.hasOwnSubscription);
    const { subscribedIndex, subscription } = layout;
    const statement = values[subscribedIndex];
    const isRead = subscription?.read !== undefined || subscription?.isInverted;
    const word =
      statement === undefined ? undefined : isRead ? textOf(statement) : wordOf(statement);
    const row = { cells, word, isRecord: isRecordRow };
    const checks = { rules: this.#rules, dates: this.#dates, mayBeDamaged: true };
    const checked = checkRow(row, layout, checks);
    if ('message' in checked) {
      throw invalidRequest([checked]);
    }
    return { ...checked, fields: layout.fields, email: checked.cells[layout.emailIndex] ?? '' };
  }

  #layoutOf(names: readonly string[], dataNames: readonly string[]): Layout {
    const key = `${names.join('\0')}\0\0${dataNames.join('\0')}`;
    const known = this.#layouts.get(key);
    const layout = known ?? layoutOrError(names, dataNames, this.#rules);
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

function layoutOrError(
  names: readonly string[],
  dataNames: readonly string[],
  rules: ImportRules,
): Layout | InvalidRequestError {
  try {
    return layoutOf(columnsOf(names, rules, false, dataNames));
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return error;
    }
    throw error;
  }
}

type Field = readonly [name: string, value: unknown];

/** Returns the fields of a row that are imported, and the fields of its `data`. */
function partsOf(
  row: Record<string, unknown>,
  isOneRecord: boolean,
  { named }: ImportRules,
): readonly [own: readonly Field[], data: readonly Field[]] {
  const { data } = row;
  const hasData =
    'data' in row && !named.has('data') && (isRecord(data) || (data ?? null) === null);
  // In a record that was read, `null` means that the field is not set: skip it. In other rows `null` asks for a
  // deletion, which an import cannot do: keep it, so that the row fails later.
  const isGiven = ([name, value]: Field) =>
    value !== undefined && !(isOneRecord && value === null && !named.has(keyOf(name)));
  const own = Object.entries(row)
    .filter(isGiven)
    .filter(([name]) => {
      if (hasData && name === 'data') {
        return false;
      }
      const isNamed = named.has(keyOf(name));
      if (!isOneRecord || isNamed) {
        return true;
      }
      const isKnown = ['email', 'subscribed'].includes(keyOf(name));
      return isKnown || (!hasData && !recordFields.includes(name));
    });
  return [own, hasData && isRecord(data) ? Object.entries(data).filter(isGiven) : []];
}

function hasText(extra: unknown): boolean {
  const cells: readonly unknown[] = Array.isArray(extra) ? extra : [extra];
  return cells.some((cell) => typeof cell === 'string' && cell.trim() !== '');
}

function notARow(row: unknown): string {
  return Array.isArray(row)
    ? 'must be an object with an `email`; got a list (papaparse: `header: true`)'
    : 'must be an object with an `email`';
}

/** The columns of a record, and how they are checked. */
interface Layout extends Columns {
  /** Whether all fields of a CSV row are imported in their order, so that they are the cells without a copy. */
  readonly isWhole: boolean;
  /** The index of the address among the cells. */
  readonly emailIndex: number;
}

function fileLayout(header: readonly string[], rules: ImportRules): Layout {
  return layoutOf(columnsOf(header, rules, true));
}

function layoutOf(columns: Columns): Layout {
  const { indexes, names, fields } = columns;
  const isWhole = indexes.length === names.length && indexes.every((place, at) => place === at);
  return { ...columns, isWhole, emailIndex: fields.indexOf('email') };
}

function namelessProblem(
  { nameless }: Columns,
  textAt: (at: number) => string | undefined,
): RowProblem | undefined {
  const found = nameless.find((at) => (textAt(at) ?? '').trim() !== '');
  return found === undefined
    ? undefined
    : csvProblem(
        `it has a value in column ${found + 1}, which has no name. Drop columns without a name with \`columns: { '': null }\``,
      );
}

/** A row before the checks: its cells and the text of its subscription. */
interface GivenRow {
  readonly cells: readonly string[];
  /** The text of the subscription; `undefined` if the row has no such cell. */
  readonly word: string | undefined;
  readonly isRecord: boolean;
}

interface CheckedCells extends Subscription {
  readonly cells: readonly string[];
}

interface RowChecks {
  readonly rules: ImportRules;
  readonly dates: DateCheck;
  /** Whether a cell may contain U+FFFD. */
  readonly mayBeDamaged: boolean;
}

/** Converts the cells of a row to the form that is sent. Returns a problem if the row is invalid. */
function checkRow(
  given: GivenRow,
  layout: Layout,
  { rules, dates, mayBeDamaged }: RowChecks,
): CheckedCells | RowProblem {
  const { fields, emailIndex, readers } = layout;
  const read = readers ? readCells(given.cells, fields, readers) : given.cells;
  if ('message' in read) {
    return read;
  }
  const text = read[emailIndex] ?? '';
  const email = normalizeEmail(text);
  const cells = email === text ? read : read.map((cell, at) => (at === emailIndex ? email : cell));
  const problem = emailProblem(email);
  if (problem !== undefined) {
    return { field: 'email', message: problem };
  }
  const subscription = subscriptionOf(given, layout, rules);
  if ('message' in subscription) {
    return subscription;
  }
  const unsubscribed =
    subscription.ownSubscribed === undefined
      ? unsubscribedProblem(cells, layout, rules)
      : undefined;
  if (unsubscribed) {
    return unsubscribed;
  }
  const damaged = mayBeDamaged ? cells.findIndex((cell) => cell.includes('\uFFFD')) : -1;
  if (damaged >= 0) {
    const message = 'contains U+FFFD, so the file was read in the wrong encoding';
    return { field: fields[damaged] ?? '', message };
  }
  dates.check(fields, cells);
  return { cells, ...subscription };
}

/** Refuses to subscribe by an option a contact whose row says in another column that it has left. */
function unsubscribedProblem(
  cells: readonly string[],
  { fields, isUnnamed }: Layout,
  { newContacts, subscribed }: ImportRules,
): RowProblem | undefined {
  if (newContacts !== 'subscribed' && subscribed !== true) {
    return undefined;
  }
  const at = cells.findIndex((cell, place) => isUnnamed[place] && isUnsubscribedWord(cell));
  const field = fields[at];
  return field === undefined
    ? undefined
    : {
        field,
        message: `says "${cells[at]?.trim()}": the contact has left, and this import would subscribe it. Say what the column means: ${proposeRead(field)}, or keep it as a custom field: \`columns: { "${field}": "${field}" }\``,
      };
}

function isUnsubscribedWord(cell: string): boolean {
  // Nearly all cells end here: the pattern is for the few that may match.
  return (
    cell.length >= 8 && cell.length < 20 && /^(unsubscribed|opted[ _-]?out)$/i.test(cell.trim())
  );
}

function readCells(
  texts: readonly string[],
  fields: readonly string[],
  readers: NonNullable<Columns['readers']>,
): readonly string[] | RowProblem {
  const cells: string[] = [];
  for (const [at, text] of texts.entries()) {
    const read = readers[at];
    const cell = read && text.trim() !== '' ? readCell(text, read) : text;
    if (typeof cell !== 'string') {
      return { field: fields[at] ?? '', message: cell.message };
    }
    cells.push(cell);
  }
  return cells;
}

function readCell(text: string, read: (text: string) => unknown): string | { message: string } {
  let value: unknown;
  try {
    value = read(text);
  } catch (error) {
    return { message: messageOf(error) };
  }
  if (isDate(value)) {
    return Number.isNaN(value.getTime())
      ? { message: '`read` returned an invalid Date' }
      : value.toISOString();
  }
  const isText = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  return value === undefined || isText
    ? textOf(value)
    : { message: '`read` must return a text, a number, a boolean, a Date or undefined' };
}

function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' && message !== '' ? message : '`read` threw';
}

const yes = new Set(['true', 'yes', 'y', '1']);
const no = new Set(['false', 'no', 'n', '0']);

function subscriptionOf(
  { word, isRecord }: GivenRow,
  layout: Layout,
  rules: ImportRules,
): Subscription | RowProblem {
  const target = layout.subscription ?? subscriptionTarget(rules);
  const ownSubscribed = readSubscription(word, target, layout.names[layout.subscribedIndex]);
  if (typeof ownSubscribed === 'object') {
    return ownSubscribed;
  }
  if (ownSubscribed !== undefined) {
    const subscribed = isRecord && ownSubscribed ? undefined : ownSubscribed;
    return { ownSubscribed, subscribed, isLookedUp: false, isRecord };
  }
  const { subscribed, newContacts, isStated } = rules;
  if (!isStated) {
    const message =
      'does not say whether the contact is subscribed. Fill it in, or say it for all such rows with `newContacts`';
    return { field: 'subscribed', message };
  }
  const isLookedUp = newContacts === 'unsubscribed';
  return { ownSubscribed, subscribed, isLookedUp, isRecord: false };
}

function readSubscription(
  word: string | undefined,
  target: ColumnTarget | undefined,
  column = 'subscribed',
): boolean | undefined | RowProblem {
  const refuse = (message: string): RowProblem => ({ field: 'subscribed', message });
  if (target?.read) {
    try {
      const ownSubscribed: unknown = target.read(word ?? '');
      return typeof ownSubscribed === 'boolean'
        ? ownSubscribed
        : refuse('`read` must return true or false');
    } catch (error) {
      return refuse(messageOf(error));
    }
  }
  const key = (word ?? '').trim().toLowerCase();
  if (key === '') {
    return undefined;
  }
  if (target?.isInverted) {
    if (yes.has(key) || isDateWord(key)) {
      return false;
    }
    return no.has(key)
      ? true
      : refuse(`must be a date, one of ${[...yes, ...no].join(', ')}, or empty`);
  }
  if (yes.has(key) || key === 'subscribed') {
    return true;
  }
  return no.has(key) || key === 'unsubscribed'
    ? false
    : refuse(
        `must be one of ${[...yes, 'subscribed', ...no, 'unsubscribed'].join(', ')}, or empty. In a program, \`contacts.importAll()\` reads other words by ${proposeRead(column)}`,
      );
}

/**
 * Whether the text is a date in a usual form of exports: 2026-01-31 …, 31.01.2026 …, 1/31/26 …, Jan 31, 2026 …,
 * 31 Jan 2026 ….
 */
function isDateWord(word: string): boolean {
  return (
    /^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(\D|$)/.test(word) ||
    /^\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})(\D|$)/.test(word) ||
    /^([a-z]{3,9},? )?[a-z]{3,9}\.? \d{1,2},? \d{4}(\D|$)/.test(word) ||
    /^([a-z]{3,9},? )?\d{1,2}[ -][a-z]{3,9}\.?[ -]\d{4}(\D|$)/.test(word)
  );
}

/**
 * Emits one `warning` for each field that gets a date as text: the first value of a field fixes its type for the
 * whole project.
 */
class DateCheck {
  readonly #warn: (message: string) => void;
  readonly #warned = new Set<string>();

  constructor(warn: (message: string) => void) {
    this.#warn = warn;
  }

  check(fields: readonly string[], cells: readonly string[]): void {
    for (let at = 0; at < cells.length; at++) {
      const problem = dateTextProblem(cells[at]);
      const field = fields[at] ?? '';
      if (problem !== undefined && !this.#warned.has(field)) {
        this.#warned.add(field);
        this.#warn(
          `The field \`${field}\` ${problem} Read it: \`columns: { "${field}": { field: "${field}", read: (text) => new Date(text) } }\`.`,
        );
      }
    }
  }
}

/** Converts a value to the text that `read` gets. */
function textOf(value: unknown): string {
  const scalar = (value ?? '') as string | number | boolean; // an object becomes `[object Object]`
  return String(scalar);
}

function wordOf(value: unknown): string {
  if (value === null || typeof value === 'object') {
    const message = 'must be true or false';
    throw invalidRequest([{ field: 'subscribed', message }]);
  }
  return textOf(value);
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
  const text = textOf(value);
  if (/\p{Surrogate}/u.test(text)) {
    throw invalidRequest([{ field, message: 'contains an unpaired surrogate' }]);
  }
  return text;
}

function invalidRow(message: string): Error {
  return invalidRequest([{ field: '', message }]);
}
