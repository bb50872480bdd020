import Papa from 'papaparse';

/** CSV with a header, and a line break after each record. */
export function csvText(fields: readonly string[], rows: readonly (readonly string[])[]): string {
  const text = Papa.unparse({ fields: [...fields], data: [...rows] }, { newline: '\n' });
  return text.endsWith('\n') ? text : `${text}\n`;
}
