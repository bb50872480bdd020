/** Reads CSV (RFC 4180): quoted cells, doubled quotes, line breaks in quotes, CRLF, a byte-order mark. */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const { value, end } of cells(text.replace(/^\uFEFF/, ''))) {
    row.push(value);
    if (end === ',') {
      continue;
    }
    // An empty line is no row.
    if (row.length > 1 || row[0] !== '') {
      rows.push(row);
    }
    row = [];
  }
  return rows;
}

interface Cell {
  readonly value: string;
  /** What came after it: a comma, a line break, or the end of the text. */
  readonly end: string;
}

/** A quoted or a plain cell, and what ends it; a quote inside a plain cell is just a character. */
const cellPattern = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n][^,\r\n]*)?)(,|\r\n|\n|\r|$)/y;

function* cells(text: string): Generator<Cell> {
  for (let at = 0; at <= text.length;) {
    const { cell, length } = cellAt(text, at);
    yield cell;
    at += length;
    if (cell.end === '') {
      return;
    }
    // A line break at the very end starts no further row.
    if (at === text.length && cell.end !== ',') {
      return;
    }
  }
}

function cellAt(text: string, at: number): { cell: Cell; length: number } {
  cellPattern.lastIndex = at;
  const match = cellPattern.exec(text);
  if (match === null) {
    throw new SyntaxError(`The quotes at character ${at} do not fit.`);
  }
  const [whole, quoted, plain = '', end = ''] = match;
  const value = quoted === undefined ? plain : quoted.replaceAll('""', '"');
  return { cell: { value, end }, length: whole.length };
}
