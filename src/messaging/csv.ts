import Papa from 'papaparse';
import { invalidRequest } from '../core/errors.js';

/** A decoder, a reader and a writer of CSV files as other programs export them. papaparse does the parsing. */

/**
 * Decodes the pieces of a CSV file: UTF-8, or UTF-16 with or without a byte-order mark. Throws for any other
 * encoding, because a wrong guess would silently change names, and for files that are not text. Line breaks become
 * `\n`.
 */
export class CsvDecoder {
  #decoder: TextDecoder | undefined;
  /** The first bytes, held back until they are enough to detect the encoding. */
  #head = new Uint8Array(0);
  #isStart = true;
  #endsInReturn = false;

  /** The encoding; `undefined` until enough bytes have arrived to detect it. */
  get encoding(): string | undefined {
    return this.#decoder?.encoding;
  }

  decode(piece: string | Uint8Array): string {
    return this.#plain(typeof piece === 'string' ? piece : this.#text(piece, true));
  }

  /** Returns the remaining text at the end of the file. */
  end(): string {
    const rest = this.#text(new Uint8Array(0), false);
    return this.#plain(rest) + (this.#endsInReturn ? '\n' : '');
  }

  #text(bytes: Uint8Array, stream: boolean): string {
    let given = bytes;
    if (this.#decoder === undefined) {
      this.#head = concatBytes(this.#head, bytes);
      if (stream && this.#head.length < 4) {
        return '';
      }
      given = this.#head;
      refuseWorkbook(given);
      this.#decoder = new TextDecoder(encodingOf(given), { fatal: true });
    }
    let text: string;
    try {
      text = this.#decoder.decode(given, { stream });
    } catch {
      throw notUnicode();
    }
    if (text.includes('\0')) {
      throw refusal(
        'It is not text: it contains the character NUL. Export the contacts as a CSV file',
      );
    }
    return text;
  }

  // Removes the byte-order mark and converts line breaks. A return at the end of a piece is held back, because the
  // line feed that belongs to it may begin the next piece.
  #plain(text: string): string {
    if (text === '') {
      return '';
    }
    const whole =
      (this.#endsInReturn ? '\r' : '') + (this.#isStart ? text.replace(/^\uFEFF/, '') : text);
    this.#isStart = false;
    this.#endsInReturn = whole.endsWith('\r');
    const complete = this.#endsInReturn ? whole.slice(0, -1) : whole;
    return complete.includes('\r') ? complete.replace(/\r\n?/g, '\n') : complete;
  }
}

// Without a byte-order mark, UTF-16 is recognized by the zero byte of the first character, which is usually ASCII.
function encodingOf([first, second]: Uint8Array): string {
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) {
    return 'utf-16le';
  }
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0)
    ? 'utf-16be'
    : 'utf-8';
}

function concatBytes(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function refuseWorkbook([first, second, third]: Uint8Array): void {
  const isZip = first === 0x50 && second === 0x4b && third === 3;
  const isOldExcel = first === 0xd0 && second === 0xcf && third === 0x11;
  if (isZip || isOldExcel) {
    const what = isZip
      ? 'an Excel workbook (.xlsx) or another archive'
      : 'an Excel workbook (.xls)';
    throw refusal(`It is ${what}. Save it as "CSV UTF-8"`);
  }
}

function notUnicode(): Error {
  return refusal(
    'It is neither UTF-8 nor UTF-16, but most likely Windows-1252, which Excel writes as plain "CSV". Save it as "CSV UTF-8", or convert it with `iconv -f WINDOWS-1252 -t UTF-8`',
  );
}

function refusal(message: string): Error {
  return invalidRequest([{ field: '', message: `The CSV file cannot be read. ${message}` }]);
}

/** A record of a CSV file, or a line that cannot be read as one. */
export interface CsvRecord {
  /** The number of the line where the record begins, from 1. */
  readonly line: number;
  /** The fields of the record. For a line that cannot be read: its text, split at the separators. */
  readonly fields: string[];
  /** The reason why the record cannot be read. */
  readonly problem?: string;
}

// The maximum length of a record in characters. Without it, a quote that is never closed would turn the rest of the
// file into one record.
const maxRecord = 1024 * 1024;
// The window after a broken record is one line. Each further window is twice as long as the one before it, so that
// many broken records in a row do not each need a window of 1 MB.
const minWindow = 1;
/** This many characters are collected before they are parsed: an incomplete record is parsed again each time. */
const minText = 64 * 1024;

/**
 * Reads records from the text of a CSV file, in pieces, and yields them in blocks, because a piece may be a
 * whole file. A record that cannot be read is reported with its line, and reading continues at the next
 * line. Empty lines, and lines that have only separators, are skipped.
 */
export class CsvReader {
  #text = '';
  #wanted = minText;
  /** The number of the line where `#text` begins, from 1. */
  #line = 1;
  #window = maxRecord;
  #isSkipping = false;
  #header: readonly string[] | undefined;
  #separator: string | undefined;

  /** Without a `separator`, papaparse detects it. */
  constructor(separator?: string) {
    this.#separator = separator;
  }

  /** The trimmed names of the columns; `undefined` until the header has been read. */
  get header(): readonly string[] | undefined {
    return this.#header;
  }

  /** The character that separates two fields. */
  get separator(): string {
    return this.#separator ?? ',';
  }

  /** The number of the line that is read next. */
  get line(): number {
    return this.#line;
  }

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
    let at = this.#separatorLine();
    const broken = (why: string, fields = this.#cutLine(at)): CsvRecord[] => {
      this.#isSkipping = true;
      this.#window = minWindow;
      return [{ line: this.#line, fields, problem: why }];
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
        yield broken('it is longer than 1 MB', []);
        continue;
      }
      if (lastEnd <= at) {
        break; // the rest of the line is in a later piece
      }
      const window = this.#text.slice(at, end);
      const { records, consumed, problem, fields } = this.#parse(window);
      yield records;
      at += consumed;
      if (problem !== undefined) {
        yield broken(problem, fields);
      } else if (consumed > 0) {
        this.#window = Math.min(2 * this.#window, maxRecord);
      } else if (end < lastEnd && this.#window < maxRecord) {
        this.#window = Math.min(2 * Math.max(this.#window, end - at), maxRecord);
      } else if (isLast || end < lastEnd || this.#text.length - at > maxRecord) {
        yield broken('a quoted field is not closed within 1 MB');
      } else {
        break; // the rest of the record is in a later piece
      }
    }
    this.#text = this.#text.slice(at);
  }

  // Reads the line "sep=;" that Excel writes above the header. Returns the length of the line, or 0 without it.
  #separatorLine(): number {
    const [line, separator] =
      this.#line === 1 ? (/^"?sep=([,;|\t])"?\n/i.exec(this.#text) ?? []) : [];
    if (line === undefined || separator === undefined) {
      return 0;
    }
    this.#separator ??= separator;
    this.#line += 1;
    return line.length;
  }

  // A window ends with a complete line, so that the character after a quote is always in the window.
  #windowEnd(at: number): number {
    const end = this.#text.lastIndexOf('\n', at + this.#window - 1) + 1;
    return end > at ? end : this.#text.indexOf('\n', at) + 1;
  }

  /** Splits a line that cannot be parsed at its separators. */
  #cutLine(at: number): string[] {
    const end = this.#text.indexOf('\n', at);
    const line = this.#text.slice(at, end === -1 ? undefined : end);
    return line.length > maxRecord ? [] : line.split(this.separator).map(unquote);
  }

  /** Parses the records at the start of a window, up to the first broken one. */
  #parse(window: string): ParsedWindow {
    this.#separator ??= findSeparator(window);
    const records: CsvRecord[] = [];
    let consumed = 0;
    let problem: string | undefined;
    let broken: string[] | undefined;
    const step = ({ data, errors, meta }: Parsed) => {
      const fields: string[] = data[0] ?? [];
      const lines = linesIn(window, consumed, meta.cursor);
      problem = errors.length > 0 ? strayQuote : this.#problemOf(fields, lines);
      if (problem !== undefined) {
        broken = errors.length === 0 && lines === 1 ? fields : undefined;
        parser.abort();
        return;
      }
      consumed = meta.cursor;
      this.#line += lines;
      if (isBlank(fields)) {
        return;
      }
      if (this.#header === undefined) {
        this.#header = fields.map((name) => name.trim());
      } else {
        records.push({ line: this.#line - lines, fields });
      }
    };
    const config = { delimiter: this.#separator, newline: '\n', step };
    const parser = new Papa.Parser(config as object);
    const rest = parser.parse(window, 0, true) as Parsed; // the result has the form that `step` gets
    if (problem === undefined && rest.errors.length > 0) {
      problem = strayQuote;
    }
    if (problem !== undefined && this.#header === undefined) {
      throw invalidRequest([
        { field: '', message: `The header of the CSV file cannot be read: ${problem}` },
      ]);
    }
    return { records, consumed, problem, fields: broken };
  }

  // A record that spans several lines and has too few fields was most likely joined by a stray quote.
  #problemOf(fields: readonly string[], lines: number): string | undefined {
    const columns = this.#header?.length ?? fields.length;
    const isTooLong = fields.length > columns && !isBlank(fields.slice(columns));
    const isBroken = isTooLong || (fields.length < columns && lines > 1 && !isBlank(fields));
    return isBroken ? `it has ${fields.length} fields; the header has ${columns}` : undefined;
  }
}

/** The records at the start of a window, and why the next one cannot be read. */
interface ParsedWindow {
  readonly records: CsvRecord[];
  readonly consumed: number;
  readonly problem: string | undefined;
  /** The fields of the next record, if the parser could read them. */
  readonly fields: string[] | undefined;
}

function findSeparator(text: string): string {
  const { meta } = Papa.parse(text, { preview: 1, newline: '\n', skipEmptyLines: 'greedy' });
  return meta.delimiter;
}

function unquote(cell: string): string {
  return /^"[^]*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

/** The result of the parser for one record. */
interface Parsed {
  readonly data: readonly string[][];
  readonly errors: readonly unknown[];
  readonly meta: { readonly cursor: number };
}

const strayQuote = 'a quoted field has text after its closing quote';

// Exports of spreadsheets often end with lines that have only separators.
function isBlank(fields: readonly string[]): boolean {
  for (const field of fields) {
    if (field !== '' && field.trim() !== '') {
      return false;
    }
  }
  return true;
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    lines += 1;
  }
  return lines;
}

/** Writes CSV with a header, and a line break after each record. */
export function formatCsv(fields: readonly string[], rows: readonly (readonly string[])[]): string {
  const text = Papa.unparse({ fields: [...fields], data: [...rows] }, { newline: '\n' });
  return text.endsWith('\n') ? text : `${text}\n`;
}
