import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { csvParts } from '../../../../messaging/contacts/csv.js';
import type { Context } from '../../../context.js';
import { CommandEnd } from '../../../exit-codes.js';
import { confirm } from '../../../terminal/confirm.js';
import { startProgress } from '../../../terminal/progress.js';

/** `postreel contacts import` */
export async function importContacts(
  file: string,
  flags: { readonly yes?: boolean },
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const messaging = await context.messaging();
  const rows = await countRows(file);
  const { size } = await stat(file);
  const facts = { file, size: `${Math.ceil(size / 1024)} kB`, rows };
  await confirm({ action: `Import ${rows} contacts`, facts }, flags, context);
  const progress = startProgress(context);
  const show = (done: number) => progress.show(file, { done, total: rows, note: 'rows' });
  show(0);
  const result = await messaging.contacts
    .importAll(createReadStream(file), {
      signal,
      onProgress: ({ imported, failed }) => show(imported + failed),
    })
    .finally(() => progress.stop());
  output.result(result, () => `${output.paint('green', 'imported')} ${result.imported} rows`);
  for (const { firstRow, rows: count, error } of result.failed) {
    const why = error instanceof Error ? error.message : String(error);
    output.note(`${output.paintNote('red', 'failed')} ${count} rows from row ${firstRow}: ${why}`);
  }
  if (result.failed.length > 0) {
    throw new CommandEnd('jobFailed', 'Some rows were not imported.');
  }
}

/** Reads the file once without keeping it. */
async function countRows(file: string): Promise<number> {
  let rows = 0;
  for await (const part of csvParts(createReadStream(file), 1024 * 1024)) {
    rows += part.rows;
  }
  if (rows === 0) {
    throw new CommandEnd('rejected', `${file} has no rows below its header.`);
  }
  return rows;
}
