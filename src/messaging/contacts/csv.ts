import { isDate } from '../../contract/records.js';

/** A part of an import: whole rows with their header, below the size that one call takes. */
export interface CsvPart {
  readonly text: string;
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
  const part = new Part(maxBytes);
  for await (const { header, line } of lines(rows)) {
    const full = part.add(header, line);
    if (full) {
      yield full;
    }
  }
  const last = part.take();
  if (last) {
    yield last;
  }
}

const encoder = new TextEncoder();

class Part {
  readonly #maxBytes: number;
  #header = '';
  #lines: string[] = [];
  #bytes = 0;
  #firstRow = 1;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a row; answers the part before it when it does not fit, or has other columns. */
  add(header: string, line: string): CsvPart | undefined {
    const size = bytesOf(line) + 1;
    const isFull = this.#bytes + size > this.#maxBytes || header !== this.#header;
    const full = isFull ? this.take() : undefined;
    if (this.#lines.length === 0) {
      this.#header = header;
      this.#bytes = bytesOf(header) + 1;
    }
    this.#lines.push(line);
    this.#bytes += size;
    return full;
  }

  take(): CsvPart | undefined {
    const rows = this.#lines.length;
    if (rows === 0) {
      return undefined;
    }
    const text = `${[this.#header, ...this.#lines].join('\n')}\n`;
    const part = { text, firstRow: this.#firstRow, rows };
    this.#firstRow += rows;
    this.#lines = [];
    return part;
  }
}

interface Line {
  readonly header: string;
  readonly line: string;
}

async function* lines(rows: CsvRows): AsyncGenerator<Line, void, undefined> {
  const decoder = new TextDecoder();
  let columns: readonly string[] = [];
  let header: string | undefined;
  let rest = '';
  for await (const row of rows) {
    if (typeof row === 'string' || ArrayBuffer.isView(row)) {
      rest += typeof row === 'string' ? row : decoder.decode(row, { stream: true });
      const [records, open] = splitRecords(rest);
      rest = open;
      for (const line of records) {
        if (header === undefined) {
          header = line;
        } else {
          yield { header, line };
        }
      }
    } else {
      columns = withColumnsOf(columns, row);
      yield { header: columns.map(cell).join(','), line: lineOf(columns, row) };
    }
  }
  if (rest.trim() !== '' && header !== undefined) {
    yield { header, line: rest };
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

function withColumnsOf(columns: readonly string[], row: CsvRow): readonly string[] {
  const names = Object.keys(row).filter((name) => !columns.includes(name));
  return names.length === 0 ? columns : [...columns, ...names];
}

function lineOf(columns: readonly string[], row: CsvRow): string {
  const values = new Map<string, unknown>(Object.entries(row));
  return columns.map((name) => cell(values.get(name))).join(',');
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

function bytesOf(text: string): number {
  return encoder.encode(text).length;
}
