import type { Output } from './output.js';

/** A column of a table: its heading, and the function that returns a row's text in it. */
export interface Column<Row> {
  readonly heading: string;
  readonly text: (row: Row) => string;
}

const gap = 2;
const narrowest = 6;

/** Lays out rows in columns; cuts texts that do not fit into the line, with an ellipsis. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  output: Output,
): string {
  const cells = rows.map((row) => columns.map(({ text }) => toPlainText(text(row))));
  const headings = columns.map(({ heading }) => heading);
  const widths = fit(
    headings.map((heading, at) =>
      Math.max(heading.length, ...cells.map((line) => line[at]?.length ?? 0)),
    ),
    output.width,
  );
  const head = output.paint('bold', lineOf(headings, widths));
  return [head, ...cells.map((line) => lineOf(line, widths))].join('\n');
}

/** Counts in words: `1 row`, `3 rows`. */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Puts a text from a service on one line, without the control characters that steer a terminal. */
export function toPlainText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ');
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, at) => cut(cell, widths[at] ?? 0).padEnd(widths[at] ?? 0));
  return padded.join(' '.repeat(gap)).trimEnd();
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}

/** Shrinks the widest column until the line fits. The first column, which names the row, shrinks last. */
function fit(wanted: readonly number[], width: number): number[] {
  const widths = [...wanted];
  let excess = widths.reduce((sum, one) => sum + one, gap * (widths.length - 1)) - width;
  for (; excess > 0; excess -= 1) {
    const others = widths.map((one, at) => (at === 0 ? 0 : one));
    const widest = Math.max(...others) > narrowest ? others.indexOf(Math.max(...others)) : 0;
    if ((widths[widest] ?? 0) <= narrowest) {
      break;
    }
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}
