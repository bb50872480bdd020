import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { survey } from '../../../../messaging/contacts/import.js';
import type { ReportedRow } from 'postreel';
import type { Context } from '../../../context.js';
import { CommandEnd } from '../../../exit-codes.js';
import { confirm } from '../../../terminal/confirm.js';
import { startProgress, waitText } from '../../../terminal/progress.js';
import { count } from '../../../terminal/table.js';
import { messageOf } from '../../../../core/errors.js';

/** `postreel contacts import` */
export async function importContacts(
  file: string,
  flags: { readonly yes?: boolean },
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const { rows, columns } = await readThrough(file);
  const messaging = await context.messaging();
  const { size: bytes } = await stat(file);
  const facts = { file, bytes, rows, columns };
  await confirm({ action: `Import ${count(rows, 'contact')}`, facts }, flags, context);
  const progress = startProgress(context);
  let done = 0;
  const show = (note: string) => progress.show(file, { done, total: rows, note });
  show('rows');
  messaging.on('throttled', (wait) => show(waitText(wait)));
  const result = await messaging.contacts
    .importAll(createReadStream(file), {
      signal,
      onProgress: (counts) => {
        done = counts.done + counts.failed + counts.unknown;
        show('rows');
      },
    })
    .finally(() => progress.stop());
  output.result(result, () => `${output.paint('green', 'imported')} ${count(result.done, 'row')}`);
  const { failed, unknown } = result;
  for (const [word, list] of [['failed', failed] as const, ['unknown', unknown] as const]) {
    for (const line of linesOf(list)) {
      output.note(`${output.paintNote('red', word)} ${line}`);
    }
  }
  if (failed.length + unknown.length > 0) {
    const end = unknown.length > 0 ? 'unknown' : 'jobFailed';
    throw new CommandEnd(end, 'Some rows were not imported, or may not have been.');
  }
}

/** One line for the rows in a row that have the same error. */
function linesOf(list: readonly ReportedRow<unknown>[]): string[] {
  const lines: string[] = [];
  for (let start = 0; start < list.length;) {
    const { error, index = 0 } = list[start] ?? {};
    let end = start + 1;
    while (list[end]?.error === error && end < list.length) {
      end += 1;
    }
    const why = messageOf(error);
    lines.push(`${count(end - start, 'row')} from row ${index + 1}: ${why}`);
    start = end;
  }
  return lines;
}

/** Reads the file once without keeping it: a slip is told before anything is uploaded. */
async function readThrough(file: string): Promise<{ rows: number; columns: readonly string[] }> {
  const rules = { named: new Map<string, string>(), data: {}, warn: () => undefined };
  const { rows, columns } = await survey(createReadStream(file), rules);
  if (rows === 0) {
    throw new CommandEnd('rejected', `${file} has no rows below its header.`);
  }
  return { rows, columns };
}
