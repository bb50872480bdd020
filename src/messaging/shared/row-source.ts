import { abortable } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';
import { kindOf } from '../../core/values.js';
import { StartedIterator } from '../../core/list/started-iterator.js';

/** Rows for a call that takes any number of them: a list, a generator or a stream. A string is not allowed. */
export type RowSource<Row> = (Iterable<Row> | AsyncIterable<Row> | RowStream<Row>) & {
  readonly charAt?: never;
};

/** A `ReadableStream`, including the types of browsers, which are not iterable. */
// A type alias, because it has no public name: the declarations of users then contain its structure.
type RowStream<Row> = {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Row | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
};

/**
 * Runs a call over its rows. Starts to read the rows before anything is loaded or awaited, so that no error of a
 * stream is unhandled, and closes the source if the call fails. `call` is the name of the method.
 */
export async function withRows<Row, Result>(
  rows: RowSource<Row>,
  call: string,
  run: (rows: RowSource<Row>) => Promise<Result>,
): Promise<Result> {
  const taken = takeOver(rows, call);
  try {
    return await run(taken);
  } catch (failure) {
    close(taken);
    throw failure;
  }
}

/** As `withRows()`, for a call that yields its results: an error is thrown when the first one is requested. */
export function yieldWithRows<Row, Result>(
  rows: RowSource<Row>,
  call: string,
  run: (rows: RowSource<Row>) => AsyncIterable<Result>,
): AsyncGenerator<Result, void, undefined> {
  // eslint-disable-next-line @typescript-eslint/require-await -- runs at once, and keeps an error for later
  const taking = (async () => takeOver(rows, call))();
  taking.catch(() => undefined);
  return (async function* (): AsyncGenerator<Result, void, undefined> {
    const taken = await taking;
    try {
      yield* run(taken);
    } finally {
      close(taken);
    }
  })();
}

/** Starts to read an asynchronous source. Returns a list unchanged. */
function takeOver<Row>(rows: RowSource<Row>, call: string): RowSource<Row> {
  checkRows(rows, call);
  if (isSynchronous(rows)) {
    return rows;
  }
  return new StartedIterator(toIterable(rows) as AsyncIterable<Row>); // synchronous sources have returned above
}

// Does not wait for the source to close: a source that hangs may never do so.
function close(rows: object): void {
  if (rows instanceof StartedIterator) {
    rows.return().catch(() => undefined); // the call rejects with its own failure
  }
}

/** Throws if a value is not a source of rows. `call` is the name of the method. */
export function checkRows(rows: unknown, call: string): void {
  const isObject = typeof rows === 'object' && rows !== null;
  const isSource =
    isObject && (Symbol.iterator in rows || Symbol.asyncIterator in rows || 'getReader' in rows);
  if (!isSource || rows instanceof String || ArrayBuffer.isView(rows)) {
    Promise.resolve(rows).catch(() => undefined); // a promise of rows may fail too
    const message = `\`${call}\` takes a list of rows, or something that yields them; got ${kindOfRows(rows)}`;
    throw invalidRequest([{ field: '', message }]);
  }
}

/** Whether all rows are available already. A `Paginated` has both kinds of iterators, and is not synchronous. */
export function isSynchronous<Row>(rows: RowSource<Row>): rows is Iterable<Row> {
  return Symbol.iterator in rows && !(Symbol.asyncIterator in rows);
}

/** Returns the rows as a value that `for await` can read. */
export function toIterable<Row>(rows: RowSource<Row>): Iterable<Row> | AsyncIterable<Row> {
  return 'getReader' in rows && !(Symbol.asyncIterator in rows) ? read(rows) : (rows as never); // the other two
}

/** Returns the number of rows, if it is known without reading them. */
export function lengthOf(rows: object): number | undefined {
  if (Array.isArray(rows)) {
    return rows.length;
  }
  return rows instanceof Set ? rows.size : undefined;
}

/** Yields the items until the signal is aborted. The abort does not wait for the next item of a slow source. */
export async function* untilAborted<T>(
  items: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void, undefined> {
  const iterator = new StartedIterator(items);
  try {
    for (let item = await abortable(iterator.next(), signal); !item.done;) {
      yield item.value;
      item = await abortable(iterator.next(), signal);
    }
  } finally {
    const closing = iterator.return();
    if (signal?.aborted) {
      closing.catch(() => undefined); // a source that hangs may never close
    } else {
      await closing;
    }
  }
}

async function* read<Row>(stream: RowStream<Row>): AsyncGenerator<Row, void, undefined> {
  const reader = stream.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) {
        return;
      }
      yield value as Row; // a value is present unless `done` is true
    }
  } finally {
    if (!isOver) {
      await reader.cancel().catch(() => undefined); // the stream may have failed already
    }
  }
}

function kindOfRows(rows: unknown): string {
  if (typeof rows === 'string' || rows instanceof String) {
    return 'a text: put it into a list';
  }
  if (ArrayBuffer.isView(rows)) {
    return 'bytes: put them into a list';
  }
  if (typeof rows === 'object' && rows !== null && 'then' in rows) {
    return 'a promise: `await` it first';
  }
  const kind = kindOf(rows);
  return kind === 'an object' ? `${kind}: put it into a list` : kind;
}
