import { callSafely } from '../../async/notifier.js';
import type { FileInput } from '../../contract/records.js';
import { csvParts, type CsvPart, type CsvRows } from './csv.js';
import type { ImportAllResult, ImportJob, ImportProgress, JobStarted } from './types.js';

// Far below the 5 MB that one call takes (Limits, "CSV import"): memory stays flat.
const maxBytes = 512 * 1024;

/** What an import of any size is made of. */
export interface ImportPlan {
  readonly start: (file: FileInput) => PromiseLike<JobStarted>;
  readonly wait: (jobId: string) => Promise<ImportJob>;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: ImportProgress) => void) | undefined;
}

/** Imports any number of rows in files below 5 MB, one after another, and says which failed. */
export async function importAll(rows: CsvRows, plan: ImportPlan): Promise<ImportAllResult> {
  const result: ImportAllResult = { imported: 0, failed: [], jobs: [] };
  for await (const part of csvParts(rows, maxBytes)) {
    plan.signal?.throwIfAborted();
    await importPart(part, plan, result);
    const failed = result.failed.reduce((sum, { rows: count }) => sum + count, 0);
    callSafely(() => plan.onProgress?.({ imported: result.imported, failed }));
  }
  return result;
}

// A part that failed does not keep the others from being imported.
async function importPart(
  { data, firstRow, rows }: CsvPart,
  plan: ImportPlan,
  result: ImportAllResult,
): Promise<void> {
  try {
    const { jobId } = await plan.start({ data, filename: `contacts-${firstRow}.csv` });
    result.jobs.push(await plan.wait(jobId));
    result.imported += rows;
  } catch (error) {
    plan.signal?.throwIfAborted();
    result.failed.push({ firstRow, rows, error });
  }
}
