import { PartialError, type PartialReport, type Report } from 'postreel';
import { expect } from 'vitest';

/** Returns the report of a call that changes many, also if it ended early. */
export async function reportOf<Row>(
  call: Promise<Report<Row>>,
  count: number,
): Promise<PartialReport<Row> & { cause?: unknown }> {
  try {
    return { ...(await call), notReached: 0, resumeFrom: count };
  } catch (error) {
    expect(error).toBeInstanceOf(PartialError);
    const { result, cause } = error as PartialError<Row>; // as expected
    return { ...result, cause };
  }
}

/** Each row is in exactly one part of the report, and the service agrees where the report is sure. */
export function expectWhole<Row>(
  rows: readonly Row[],
  report: PartialReport<Row>,
  happened: (row: Row, index: number) => boolean | undefined,
): void {
  const { done, failed, unknown, resumeFrom, notReached } = report;
  const told = new Set([...failed, ...unknown].map(({ index }) => index));
  expect(told.size).toBe(failed.length + unknown.length);
  for (const { row, index } of [...failed, ...unknown]) {
    expect(index).toBeLessThan(resumeFrom);
    expect(row).toEqual(rows[index]);
  }
  // A source whose length is not known leaves open how many rows it did not get to.
  expect(rows.length - resumeFrom).toBe(notReached ?? rows.length - resumeFrom);
  expect(done + told.size).toBe(resumeFrom);
  const isSure = (index: number) => index < resumeFrom && !told.has(index);
  const undone = new Set(failed.map(({ index }) => index));
  rows.forEach((row, index) => {
    if (isSure(index) && happened(row, index) === false) {
      expect.fail(`row ${index} is told as done, but did not happen`);
    }
    if ((undone.has(index) || index >= resumeFrom) && happened(row, index)) {
      expect.fail(`row ${index} is told as failed or not reached, but happened`);
    }
  });
}
