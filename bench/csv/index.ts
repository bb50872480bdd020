import { splitImport } from '../../src/messaging/contacts/import.js';
import { median, report } from '../report.js';

const sizesMb = [25, 50, 100];
const passes = Number(process.env['PASSES'] ?? 3);
/** The maximum growth of the time when the number of rows doubles. */
const maxRatio = 2.5;
const bytesOfRow = 45;

const notes: Readonly<Record<string, (row: number, rows: number) => string>> = {
  'no quote': () => 'a note',
  'one in a field': (row, rows) => (row === rows >> 1 ? '5" pipe' : 'a note'),
  'one that opens a field': (row, rows) => (row === rows >> 1 ? '"open' : 'a note'),
  'in a field of each 100th row': (row) => (row % 100 === 0 ? '5" pipe' : 'a note'),
  'one that opens a field of each 1 000th row': (row) => (row % 1_000 === 0 ? '"open' : 'a note'),
};

const rules = { named: new Map(), data: {}, warn: () => undefined, isStated: true };

/** The text of a file, in chunks as a disk delivers them. */
function* textOf(rows: number, noteOf: (row: number, rows: number) => string) {
  let piece = 'email,note,seats\n';
  for (let row = 0; row < rows; row++) {
    piece += `person-${row}@example.com,${noteOf(row, rows)},${row}\n`;
    if (piece.length > 64 * 1024) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

/** Splits a file into the files of an import; returns the CPU time in seconds. */
async function read(megabytes: number, quotes: string, isWhole: boolean): Promise<number> {
  const rows = Math.round((megabytes * 1_000_000) / bytesOfRow);
  const pieces = textOf(rows, notes[quotes]!);
  const source = isWhole ? [[...pieces].join('')] : pieces;
  globalThis.gc?.();
  const before = process.cpuUsage();
  let counted = 0;
  for await (const { rows: good, refused } of splitImport(source, 0, rules, () =>
    Promise.resolve({}),
  )) {
    counted += good.length + refused.length;
  }
  // CPU time, so that other programs on the machine do not count.
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1_000_000;
  console.log(`${quotes}, ${isWhole ? 'one piece' : 'pieces'}: ${megabytes} MB, ${seconds} s`);
  // A line that a wrong quote has joined to its neighbour would be missing here.
  if (counted !== rows) {
    throw new Error(`${counted} of ${rows} rows were read.`);
  }
  return seconds;
}

await read(10, 'no quote', false); // warms up
const tables: Record<string, Record<string, Record<string, string>>> = {};
let isLinear = true;
for (const isWhole of [false, true]) {
  const table: Record<string, Record<string, string>> = {};
  for (const quotes of Object.keys(notes)) {
    const times = new Map<number, number[]>(sizesMb.map((size) => [size, []]));
    for (let pass = 0; pass < passes; pass++) {
      for (const [size, seconds] of times) {
        seconds.push(await read(size, quotes, isWhole));
      }
    }
    const seconds = [...times.values()].map(median);
    const ratios = seconds.slice(1).map((time, at) => time / (seconds[at] ?? time));
    isLinear &&= ratios.every((ratio) => ratio <= maxRatio);
    table[quotes] = Object.fromEntries([
      ...sizesMb.map((size, at) => [`${size} MB, s`, seconds[at]?.toFixed(2) ?? '']),
      ['twice the rows', ratios.map((ratio) => `${ratio.toFixed(2)} ×`).join(', ')],
    ]) as Record<string, string>; // as: entries lose their types
  }
  tables[isWhole ? 'The file in one piece' : 'The file in pieces of 64 KB'] = table;
}
await report({
  title: 'A CSV file with stray quotes',
  command: 'npm run bench:csv',
  method: `A file is read and cut into the files of an import, without a service. Seconds of the processor; the middle one of ${passes}.`,
  tables,
});
console.log(`twice the rows take at most ${maxRatio} times as long: ${isLinear ? 'yes' : 'NO'}`);
process.exitCode = isLinear ? 0 : 1;
