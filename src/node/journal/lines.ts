/**
 * A value that replaces another value, identified by its fingerprint. Lines are read in order, and a line
 * that does not find the value it names has no effect: of two competing processes, the first line wins.
 */
export type SwapLine = readonly [
  type: 'swap',
  key: string,
  from: string | null,
  to: string | null,
  at: number,
];

/** A line of a journal. The first line distinguishes the file from an earlier one with the same path. */
export type JournalLine = SwapLine | readonly [type: 'file', id: string];

export function textOf(line: JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The value of a line; `undefined` if a crash has torn the line. */
export function parseLine(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isSwap(value: unknown): value is SwapLine {
  if (!Array.isArray(value) || value.length !== 5) {
    return false;
  }
  const [type, key, from, to, at] = value as unknown[];
  const areTexts = [from, to].every((text) => text === null || typeof text === 'string');
  return type === 'swap' && typeof key === 'string' && areTexts && typeof at === 'number';
}

/** True if a version without `once` wrote the line. Its jobs are unknown here and would be made again. */
export function isOld(value: unknown): boolean {
  return Array.isArray(value) && ['put', 'claim', 'delete'].includes(String(value[0]));
}
