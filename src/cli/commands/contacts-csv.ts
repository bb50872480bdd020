import { formatCsv } from '../../messaging/csv.js';

type CsvRow = Readonly<Record<string, unknown>>;

// The start of cells that Excel and others run as formulas when they open a file. A number with a sign is not
// a formula.
const formula = /^[=+\-@\t\r]/;
const signedNumber = /^[+-][\d\s().,/-]+$/;

// By these five columns an import recognizes records that were read. Such rows subscribe nobody.
const ownFields: readonly string[] = ['email', 'subscribed', 'id', 'createdAt', 'updatedAt'];

/**
 * Creates a CSV file of contacts, with the five fields of every contact first, and notes about the values that
 * such a file cannot hold. A text that a spreadsheet would run as a formula gets an apostrophe in front, unless
 * `isRaw` is set.
 */
export function createContactsCsv(
  rows: readonly CsvRow[],
  isRaw: boolean,
): { readonly text: string; readonly notes: readonly string[] } {
  const names = [...new Set([...ownFields, ...rows.flatMap((row) => Object.keys(row))])];
  const escaped = new Set<string>();
  const escapeFormula = (name: string, text: string) => {
    if (isRaw || !formula.test(text) || signedNumber.test(text)) {
      return text;
    }
    escaped.add(name);
    return `'${text}`;
  };
  const cells = rows.map((row) => names.map((name) => escapeFormula(name, cellOf(row[name]))));
  const header = names.map((name) => escapeFormula('the header', name));
  return { text: formatCsv(header, cells), notes: [...lossesOf(rows), ...notesOf(escaped)] };
}

function cellOf(value: unknown): string {
  if (value === undefined || value === null) {
    return '';
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function notesOf(names: ReadonlySet<string>): string[] {
  return names.size === 0
    ? []
    : [
        `${joinNames(names)}: some texts begin like formulas, which spreadsheets run. They were written with an apostrophe in front. --raw writes them unchanged.`,
      ];
}

/** The losses in a CSV file, which can only hold strings. */
function lossesOf(rows: readonly CsvRow[]): string[] {
  const structured = new Set<string>();
  const alike = new Set<string>();
  const custom = rows
    .flatMap((row) => Object.entries(row))
    .filter(([name]) => !ownFields.includes(name));
  for (const [name, value] of custom) {
    if (typeof value === 'object' && value !== null) {
      structured.add(name);
    } else if (typeof value === 'string' && /^(true|false|-?\d+(\.\d+)?)$/i.test(value)) {
      alike.add(name);
    }
  }
  return [
    ...(structured.size > 0
      ? [
          `${joinNames(structured)}: lists and objects become text; importing the file would store them as text.`,
        ]
      : []),
    ...(alike.size > 0
      ? [
          `${joinNames(alike)}: some texts look like numbers or booleans; importing the file may store them as such.`,
        ]
      : []),
  ];
}

function joinNames(names: ReadonlySet<string>): string {
  return [...names].map((name) => `\`${name}\``).join(', ');
}
