/**
 * A value that was written in place of another one, which its fingerprint names. The lines are read in order,
 * and one that does not find the value it names changes nothing: of two processes, one is first.
 */
export type SwapLine = readonly [
  type: 'swap',
  key: string,
  from: string | null,
  to: string | null,
  at: number,
];

/** A line of a journal. The first line tells the file from an earlier one with the same path. */
export type JournalLine = SwapLine | readonly [type: 'file', id: string];

export function textOf(line: JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** The value of a line; `undefined` for one that a crash has torn. */
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

/** Was the line written by a version that had no `once`? Its jobs are unknown here and would be made again. */
export function isOld(value: unknown): boolean {
  return Array.isArray(value) && ['put', 'claim', 'delete'].includes(String(value[0]));
}
