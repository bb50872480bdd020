import { blocksOf, type RowSource } from '../shared/row-source.js';
import { CsvDecoder } from './csv-decoder.js';
import { CsvReader, type CsvRecord } from './csv-reader.js';

/** Reads the records of a CSV file that comes in pieces. */
export async function* csvRecords(
  pieces: RowSource<string | Uint8Array>,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const decoder = new CsvDecoder();
  const reader = new CsvReader();
  for await (const block of blocksOf(pieces, 1)) {
    for (const piece of block) {
      yield* reader.read(decoder.decode(piece));
    }
  }
  yield* reader.read(decoder.end());
  yield* reader.end();
}
