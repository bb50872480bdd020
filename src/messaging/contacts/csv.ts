import { isDate } from '../../contract/records.js';

/** A part of an import: whole rows with their header, below the size that one call takes. */
export interface CsvPart {
  /** Good until the part after the next one is asked for: its memory is used again. */
  readonly data: Uint8Array;
  /** The number of the part's first row, from 1; the header is not counted. */
  readonly firstRow: number;
  readonly rows: number;
}

/** Where rows come from: objects with a field per column, or the text of a CSV file in pieces. */
export type CsvRows = Iterable<CsvRow | CsvText> | AsyncIterable<CsvRow | CsvText>;

/** One row: a value per column. */
export type CsvRow = object;

type CsvText = string | Uint8Array;

/** Cuts rows into parts, each with the header, and never inside a row. */
export async function* csvParts(
  rows: CsvRows,
  maxBytes: number,
): AsyncGenerator<CsvPart, void, undefined> {
  const reader = new Reader();
  const part = new Part(maxBytes);
  // Rows that are there already are not awaited one by one: a promise for each would fill the memory.
  if (Symbol.iterator in rows) {
    for (const row of rows) {
      for (const line of reader.linesOf(row)) {
        const full = part.add(reader.header, line);
        if (full) {
          yield full;
        }
      }
    }
  } else {
    for await (const row of rows) {
      for (const line of reader.linesOf(row)) {
        const full = part.add(reader.header, line);
        if (full) {
          yield full;
        }
      }
    }
  }
  yield* lastParts(reader, part);
}

// The last line may have no line break, and may not fit.
function* lastParts(reader: Reader, part: Part): Generator<CsvPart, void, undefined> {
  for (const line of reader.rest()) {
    const full = part.add(reader.header, line);
    if (full) {
      yield full;
    }
  }
  const last = part.take();
  if (last) {
    yield last;
  }
}

/** Makes lines of rows, and of the pieces of a text. */
class Reader {
  header = '';
  readonly #decoder = new TextDecoder();
  #columns: readonly string[] = [];
  #rest = '';

  linesOf(row: CsvRow | CsvText): readonly string[] {
    if (typeof row !== 'string' && !ArrayBuffer.isView(row)) {
      return [this.#lineOf(row)];
    }
    const text = typeof row === 'string' ? row : this.#decoder.decode(row, { stream: true });
    const [lines, open] = splitRecords(this.#rest + text);
    this.#rest = open;
    return this.#withoutHeader(lines);
  }

  rest(): readonly string[] {
    return this.#rest.trim() === '' ? [] : this.#withoutHeader([this.#rest]);
  }

  #lineOf(row: CsvRow): string {
    const columns = withColumnsOf(this.#columns, row);
    if (columns !== this.#columns) {
      this.#columns = columns;
      this.header = columns.map(cell).join(',');
    }
    return lineOf(columns, row);
  }

  #withoutHeader(lines: readonly string[]): readonly string[] {
    const [first] = lines;
    if (this.header !== '' || first === undefined) {
      return lines;
    }
    this.header = first;
    return lines.slice(1);
  }
}

// Rows are kept as bytes: a hundred thousand strings would take many times the memory of their file.
class Part {
  readonly #maxBytes: number;
  #header = '';
  readonly #encoder = new TextEncoder();
  #buffer = new Uint8Array(65_536);
  /** The next part is written beside the one that was handed over, whose bytes are not copied. */
  #other = new Uint8Array(65_536);
  #bytes = 0;
  #rows = 0;
  #firstRow = 1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a row; answers the part before it when it does not fit, or has other columns. */
  add(header: string, line: string): CsvPart | undefined {
    const fits = this.#rows === 0 || (header === this.#header && this.#write(line));
    const full = fits ? undefined : this.take();
    if (this.#rows === 0) {
      this.#header = header;
      // A row that is larger than a file may be is sent alone: the service says what it thinks of it.
      this.#write(header, Infinity);
      this.#write(line, Infinity);
    }
    this.#rows += 1;
    return full;
  }

  take(): CsvPart | undefined {
    const rows = this.#rows;
    if (rows === 0) {
      return undefined;
    }
    const handedOver = this.#buffer;
    const data = handedOver.subarray(0, this.#bytes);
    const part = { data, firstRow: this.#firstRow, rows };
    this.#buffer = this.#other;
    this.#other = handedOver;
    this.#firstRow += rows;
    this.#rows = 0;
    this.#bytes = 0;
    return part;
  }

  /** Adds a line, unless the part would be too large with it. */
  #write(line: string, maxBytes = this.#maxBytes): boolean {
    const text = `${line}\n`;
    // No character takes more than three bytes.
    const needed = this.#bytes + text.length * 3;
    if (needed > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(needed, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#bytes));
      this.#buffer = larger;
    }
    const { written } = this.#encoder.encodeInto(text, this.#buffer.subarray(this.#bytes));
    const isWritten = this.#bytes + written <= maxBytes;
    this.#bytes += isWritten ? written : 0;
    return isWritten;
  }
}

// A line break inside quotes belongs to the value; a doubled quote opens and closes again.
function splitRecords(text: string): [string[], string] {
  const records: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '"') {
      isQuoted = !isQuoted;
    } else if (text[index] === '\n' && !isQuoted) {
      const record = text.slice(start, index).replace(/\r$/, '');
      if (record !== '') {
        records.push(record);
      }
      start = index + 1;
    }
  }
  return [records, text.slice(start)];
}

// The same list when the row has no other columns.
function withColumnsOf(columns: readonly string[], row: CsvRow): readonly string[] {
  const names = Object.keys(row).filter((name) => !columns.includes(name));
  return names.length === 0 ? columns : [...columns, ...names];
}

function lineOf(columns: readonly string[], row: CsvRow): string {
  const values = row as Readonly<Record<string, unknown>>; // its columns, which are names of its own
  return columns.map((name) => cell(Object.hasOwn(values, name) ? values[name] : '')).join(',');
}

function cell(value: unknown): string {
  const text = textOf(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  if (isDate(value)) {
    return value.toISOString();
  }
  if (typeof value === 'string' || typeof value === 'bigint') {
    return value.toString();
  }
  return JSON.stringify(value);
}
