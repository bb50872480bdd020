import Papa from 'papaparse';
import { invalidRequest } from '../../core/errors.js';

/** A record of a CSV file, or a line that is none. */
export type CsvRecord =
  | { readonly cells: Readonly<Record<string, string>>; readonly problem?: undefined }
  | { readonly cells: Readonly<Record<string, string>>; readonly problem: string };

// A quote that opens a field and is never closed would make one record of the rest of the file.
const maxRecord = 1024 * 1024;
// After a broken record one line is looked at, then twice as much each time: many may be broken.
const minWindow = 1;
/** So much text is collected before it is read: reading begins at the same record again and again. */
const minText = 64 * 1024;

/**
 * Reads records out of the text of a CSV file, in pieces, and yields them in blocks: a piece may be a
 * whole file. A record that cannot be read is reported with its line, and reading goes on at the next
 * line. Empty lines are no records.
 */
export class CsvReader {
  #text = '';
  #wanted = minText;
  /** The number of the line where `#text` begins, from 1. */
  #line = 1;
  #window = maxRecord;
  #isSkipping = false;
  #header: readonly string[] | undefined;
  #delimiter = ',';

  *read(piece: string): Generator<readonly CsvRecord[], void, undefined> {
    this.#text += piece;
    if (this.#text.length >= this.#wanted) {
      yield* this.#records(false);
      this.#wanted = this.#text.length + minText;
    }
  }

  *end(): Generator<readonly CsvRecord[], void, undefined> {
    if (this.#text !== '' && !this.#text.endsWith('\n')) {
      this.#text += '\n';
    }
    yield* this.#records(true);
  }

  *#records(isLast: boolean): Generator<readonly CsvRecord[], void, undefined> {
    const lastEnd = this.#text.lastIndexOf('\n') + 1;
    let at = 0;
    const broken = (why: string): CsvRecord[] => {
      this.#isSkipping = true;
      this.#window = minWindow;
      return [{ cells: {}, problem: `line ${this.#line}: ${why}` }];
    };
    while (at < this.#text.length) {
      if (this.#isSkipping) {
        const end = this.#text.indexOf('\n', at) + 1;
        at = end === 0 ? this.#text.length : end;
        this.#isSkipping = end === 0;
        this.#line += end === 0 ? 0 : 1;
        continue;
      }
      const end = lastEnd > at ? this.#windowEnd(at) : this.#text.length;
      const isTooLong = end - at > maxRecord;
      if (isTooLong) {
        yield broken('it is longer than 1 MB');
        continue;
      }
      if (lastEnd <= at) {
        break; // the rest of the line is still to come
      }
      const window = this.#text.slice(at, end);
      const { records, consumed, problem } = this.#parse(window);
      yield records;
      at += consumed;
      if (problem !== undefined) {
        yield broken(problem);
      } else if (consumed > 0) {
        this.#window = Math.min(2 * this.#window, maxRecord);
      } else if (end < lastEnd && this.#window < maxRecord) {
        this.#window = Math.min(2 * Math.max(this.#window, end - at), maxRecord);
      } else if (isLast || end < lastEnd || this.#text.length - at > maxRecord) {
        yield broken('a quote opens a field, and does not end within 1 MB');
      } else {
        break; // the rest of the record is still to come
      }
    }
    this.#text = this.#text.slice(at);
  }

  // Windows end with a line, so that what stands behind a quote is known.
  #windowEnd(at: number): number {
    const end = this.#text.lastIndexOf('\n', at + this.#window - 1) + 1;
    return end > at ? end : this.#text.indexOf('\n', at) + 1;
  }

  /** The records at the start of a window, up to the first that is broken. */
  #parse(window: string): { records: CsvRecord[]; consumed: number; problem?: string } {
    if (this.#header === undefined) {
      const [line] = window.trimStart().split('\n', 1);
      this.#delimiter = Papa.parse(line ?? '').meta.delimiter;
    }
    const records: CsvRecord[] = [];
    let consumed = 0;
    let problem: string | undefined;
    const step = ({ data, errors, meta }: Parsed) => {
      const fields = data[0] ?? [];
      const lines = linesIn(window, consumed, meta.cursor);
      problem = errors.length > 0 ? strayQuote : this.#problemOf(fields, lines);
      if (problem !== undefined) {
        parser.abort();
        return;
      }
      consumed = meta.cursor;
      this.#line += lines;
      if (fields.length === 1 && fields[0]?.trim() === '') {
        return; // an empty line
      }
      if (this.#header === undefined) {
        this.#header = checkedHeader(fields);
      } else {
        records.push({ cells: cellsOf(this.#header, fields) });
      }
    };
    const config = { delimiter: this.#delimiter, newline: '\n', step };
    const parser = new Papa.Parser(config as object);
    const rest = parser.parse(window, 0, true) as Parsed; // what its steps get
    if (problem === undefined && rest.errors.length > 0) {
      problem = strayQuote;
    }
    if (problem !== undefined && this.#header === undefined) {
      throw invalidRequest([
        { field: '', message: `The header of the CSV file cannot be read: ${problem}` },
      ]);
    }
    return { records, consumed, ...(problem !== undefined && { problem }) };
  }

  // Several lines with fields too few are most likely glued together by a stray quote.
  #problemOf(fields: readonly string[], lines: number): string | undefined {
    const columns = this.#header?.length ?? fields.length;
    const isBroken = fields.length > columns || (fields.length < columns && lines > 1);
    return isBroken ? `it has ${fields.length} fields; the header has ${columns}` : undefined;
  }
}

/** What the parser returns for one record. */
interface Parsed {
  readonly data: readonly string[][];
  readonly errors: readonly unknown[];
  readonly meta: { readonly cursor: number };
}

const strayQuote =
  'a quote that opens a field is followed by something else than the end of the field';

function checkedHeader(names: readonly string[]): readonly string[] {
  const columns = names.map((name) => name.trim());
  const twice = columns.find((name, index) => columns.indexOf(name) < index);
  if (twice !== undefined) {
    throw invalidRequest([
      { field: '', message: `The header of the CSV file has the column "${twice}" twice` },
    ]);
  }
  return columns;
}

function cellsOf(header: readonly string[], fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(header.map((name, index) => [name, fields[index] ?? '']));
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    lines += 1;
  }
  return lines;
}
