import { invalidRequest } from '../../core/errors.js';
import { limits } from '../limits.js';
import { blocksOf, type RowSource } from '../shared/row-source.js';
import { isId } from '../shared/values.js';
import type { Batch } from './change-many.js';
import type { ContactSelection } from './types.js';

/** Cuts ids into batches that one call takes, from a row on. What is no id is refused by itself. */
export async function* idBatches(
  ids: RowSource<string>,
  from: number,
): AsyncGenerator<Batch<string, ContactSelection>, void, undefined> {
  let index = 0;
  for await (const block of blocksOf(ids, limits.bulkContacts)) {
    const rows = block.map((row, place) => ({ row, index: index + place }));
    index += block.length;
    const wanted = rows.filter((row) => row.index >= from);
    if (wanted.length === 0) {
      continue;
    }
    const good = wanted.filter(({ row }) => isId(row));
    const refused = wanted.filter(({ row }) => !isId(row));
    const message = 'must be an id, as a string';
    yield {
      body: { contactIds: good.map(({ row }) => row) },
      rows: good,
      refused: refused.map((row) => ({
        ...row,
        error: invalidRequest([{ field: `[${row.index}]`, message }]),
      })),
      to: index,
    };
  }
}
