import { monotonicMs, sleep } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';
import { isBytes, isRecord, type FileInput, type NamedFile } from '../../core/values.js';
import { blocksOf, type Batch } from '../bulk.js';
import { CsvDecoder, CsvReader, type CsvRecord } from '../csv.js';
import { limits } from '../limits.js';
import type { RowSource } from '../shared/row-source.js';
import { columnsOf, type Columns } from './import-columns.js';
import { filesOf, Stretch, type LookUpContacts } from './import-files.js';
import {
  readRows,
  TextRows,
  type ImportEntry,
  type ImportRules,
  type ImportSource,
  type ReadyRow,
} from './import-rows.js';

// Skipped and rejected rows cause no request, so the import itself must let the event loop run from time to time.
const maxTurnMs = 20;

/** Splits the rows of an import into CSV files. Each file has only the columns of its rows. */
export async function* splitImport(
  rows: ImportSource,
  from: number,
  rules: ImportRules,
  lookUp: LookUpContacts,
): AsyncGenerator<Batch<object, NamedFile>, void, undefined> {
  let records = 0;
  try {
    for await (const stretch of stretchesOf(rows, from, rules)) {
      records += stretch.rows.filter(({ isRecord }) => isRecord).length;
      yield* filesOf(stretch, lookUp);
    }
  } finally {
    if (records > 0) {
      rules.warn(
        `${records} ${records === 1 ? 'row is a contact that was' : 'rows are contacts that were'} read. For such rows, \`subscribed: false\` is sent and \`subscribed: true\` is not: existing contacts keep their state.`,
      );
    }
  }
}

async function* stretchesOf(
  rows: ImportSource,
  from: number,
  rules: ImportRules,
): AsyncGenerator<Stretch, void, undefined> {
  let stretch = new Stretch(from);
  let turnAt = monotonicMs();
  for await (const entries of readRows(rows, rules)) {
    if (monotonicMs() - turnAt > maxTurnMs) {
      await sleep(0, undefined);
      turnAt = monotonicMs();
    }
    for (const entry of entries) {
      if (entry.index < from) {
        continue;
      }
      if (!stretch.add(entry)) {
        yield stretch;
        stretch = new Stretch(entry.index);
        stretch.add(entry);
      }
    }
  }
  if (stretch.hasRows) {
    yield stretch;
  }
}

/** The number of wrong rows that the plan of an import explains. */
const maxReasons = 3;

/** The counts of a file that the plan of its import shows. */
export interface Survey {
  readonly rows: number;
  readonly columns: readonly string[];
  /** The number of rows with a subscribed contact, with an unsubscribed one, and without a value. */
  readonly subscriptions: { subscribed: number; unsubscribed: number; nothing: number };
  /** The number of rows that fail before they are sent. */
  readonly wrong: number;
  /** The errors of the first rows that fail. */
  readonly reasons: readonly unknown[];
  /** The number of rows that are records that were read: `subscribed: true` is not sent for them. */
  readonly records: number;
  /** The number of files that are sent, if no row needs another round. */
  readonly files: number;
}

/** Reads a file piece by piece and counts its rows. Throws the error that an import of the file would throw. */
export async function survey(
  pieces: RowSource<string | Uint8Array>,
  rules: ImportRules,
  onRow?: (row: ReadyRow) => void,
): Promise<Survey> {
  const text = new TextRows(rules);
  const subscriptions = { subscribed: 0, unsubscribed: 0, nothing: 0 };
  const reasons: unknown[] = [];
  let [rows, wrong, records, files] = [0, 0, 0, 0];
  let stretch = new Stretch(0);
  const add = (entry: ImportEntry) => {
    rows += 1;
    if (entry.cells === undefined) {
      wrong += 1;
      if (reasons.length < maxReasons) {
        reasons.push(entry.error);
      }
      return;
    }
    subscriptions[wordOf(entry.ownSubscribed)] += 1;
    records += entry.isRecord ? 1 : 0;
    if (!stretch.add(entry)) {
      files += stretch.files;
      stretch = new Stretch(entry.index);
      stretch.add(entry);
    }
    onRow?.(entry);
  };
  for await (const [piece = ''] of blocksOf(pieces, 1)) {
    for (const entries of text.read(piece)) {
      entries.forEach(add);
    }
  }
  for (const entries of text.end()) {
    entries.forEach(add);
  }
  files += stretch.files;
  return { rows, columns: text.header ?? [], subscriptions, wrong, reasons, records, files };
}

function wordOf(subscribed: boolean | undefined): keyof Survey['subscriptions'] {
  return subscribed === undefined ? 'nothing' : subscribed ? 'subscribed' : 'unsubscribed';
}

/** Reads the names of a file's columns. Stops at the first piece that completes the header. */
export async function headerOf(pieces: RowSource<string | Uint8Array>): Promise<readonly string[]> {
  const decoder = new CsvDecoder();
  const reader = new CsvReader();
  for await (const [piece = ''] of blocksOf(pieces, 1)) {
    Array.from(reader.read(decoder.decode(piece)));
    if (reader.header) {
      return reader.header;
    }
  }
  Array.from(reader.read(decoder.end()));
  Array.from(reader.end());
  return reader.header ?? [];
}

/** Finds the line of the file on which each of the given rows begins, by the index of the row. */
export async function findLineNumbers(
  pieces: RowSource<string | Uint8Array>,
  indexes: ReadonlySet<number>,
): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>();
  const decoder = new CsvDecoder();
  const reader = new CsvReader();
  let index = 0;
  const add = (blocks: Iterable<readonly CsvRecord[]>) => {
    for (const { line } of [...blocks].flat()) {
      if (indexes.has(index)) {
        lines.set(index, line);
      }
      index += 1;
    }
  };
  for await (const [piece = ''] of blocksOf(pieces, 1)) {
    add(reader.read(decoder.decode(piece)));
  }
  add(reader.read(decoder.end()));
  add(reader.end());
  return lines;
}

// The maximum number of problems that one error lists.
const maxProblems = 10;

/**
 * Checks a file that is sent unchanged, and rejects content that the service could misread. Invalid addresses are
 * not rejected here: the job reports them. Resolves to a copy, so that later changes of the input have no effect.
 */
export async function checkFile(
  file: FileInput,
  rules: ImportRules,
): Promise<NamedFile | undefined> {
  const named = readFileInput(file);
  const data = named?.data;
  const isData = typeof data === 'string' || data instanceof Blob || isBytes(data);
  const blob = isData ? new Blob([data as BlobPart]) : undefined; // the type excludes bytes of a `SharedArrayBuffer`
  if (!blob || blob.size > limits.importBytes) {
    return undefined; // the call rejects the file with the reason when its request body is built
  }
  const { problems, lacksSubscribed } = findCsvProblems(
    new Uint8Array(await blob.arrayBuffer()),
    rules,
  );
  if (problems.length > 0) {
    const shown = problems.slice(0, maxProblems).join('; ');
    const more = problems.length > maxProblems ? `; and ${problems.length - maxProblems} more` : '';
    throw invalidFile(
      `The service could misread this file: ${shown}${more}. \`contacts.importAll()\` takes it as it is`,
    );
  }
  if (lacksSubscribed) {
    rules.warn(
      'The file has no column `subscribed`, so the service decides. With similar services, existing contacts keep their state, and new contacts become subscribed. With `contacts.importAll()`, you decide.',
    );
  }
  return { ...named, data: blob };
}

/** Returns the data of a file with its name and content type, if it has them. */
function readFileInput(file: FileInput): NamedFile | undefined {
  if (typeof file === 'string') {
    return undefined; // most likely a path
  }
  const given = isRecord(file) && 'data' in file ? (file as NamedFile) : { data: file as Blob };
  const { name, type } = Object(given.data) as Partial<File>; // `data` may be of any type
  const { filename = name, contentType = type === '' ? undefined : type }: NamedFile = given;
  return { ...given, filename, contentType };
}

/**
 * Lists the parts of a file that the service could misread. `lacksSubscribed` is true if the file has rows and no column
 * `subscribed`.
 */
function findCsvProblems(
  bytes: Uint8Array,
  rules: ImportRules,
): { readonly problems: readonly string[]; readonly lacksSubscribed: boolean } {
  const decoder = new CsvDecoder();
  const text = decoder.decode(bytes) + decoder.end();
  const reader = new CsvReader();
  const records = [...reader.read(text), ...reader.end()].flat();
  const header = reader.header ?? [];
  const layout: Columns = columnsOf(header, rules, true);
  const problems: string[] = [];
  if (decoder.encoding !== 'utf-8') {
    problems.push(`it is ${(decoder.encoding ?? '').toUpperCase()}, not UTF-8`);
  }
  if (reader.separator !== ',' || /^"?sep=/i.test(text)) {
    problems.push('its fields are not separated by commas alone');
  }
  if (!header.some((name) => /^email$/i.test(name))) {
    problems.push('its column of addresses is not called `email`');
  }
  if (new Set(header).size < header.length) {
    problems.push('a column comes twice');
  }
  const subscribedIndex = header.findIndex((name) => /^subscribed$/i.test(name));
  for (const { line, fields, problem } of records) {
    const word = fields[subscribedIndex]?.trim() ?? '';
    if (problem !== undefined) {
      problems.push(`line ${line}: ${problem}`);
    } else if (layout.nameless.some((at) => (fields[at] ?? '').trim() !== '')) {
      problems.push(`line ${line}: it has a value in a column without a name`);
    } else if (!['', 'true', 'false'].includes(word)) {
      problems.push(`line ${line}: \`subscribed\` is neither true nor false`);
    }
  }
  if (records.length === 0) {
    rules.warn('The CSV file has a header and no rows below it: nothing will be imported.');
  }
  return { problems, lacksSubscribed: records.length > 0 && subscribedIndex < 0 };
}

function invalidFile(message: string): Error {
  return invalidRequest([{ field: '', message }]);
}
