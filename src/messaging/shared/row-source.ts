import { abortable } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';
import { kindOf } from '../../core/request.js';
import { StartedIterator } from '../../core/started-iterator.js';

/** Rows for a call that takes any number of them: a list, a generator, or a stream. No text: it is one row. */
export type RowSource<Row> = (Iterable<Row> | AsyncIterable<Row> | RowStream<Row>) & {
  readonly charAt?: never;
};

/** A `ReadableStream`, also where its type is not iterable, as in browsers. */
// An alias, since it has no public name: the declarations of a user spell it out.
type RowStream<Row> = {
  getReader(): {
    read(): Promise<{ done: boolean; value?: Row | undefined }>;
    cancel(reason?: unknown): Promise<void>;
  };
};

/**
 * Runs a call over its rows. Takes the rows over before anything is loaded or awaited, so that no error of a stream
 * goes unhandled, and closes them if the call fails. `call` is the name of the method.
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

/** Begins to read rows that come one by one; a list stays as it is. */
function takeOver<Row>(rows: RowSource<Row>, call: string): RowSource<Row> {
  checkRows(rows, call);
  if (isSynchronous(rows)) {
    return rows;
  }
  return new StartedIterator(iterable(rows) as AsyncIterable<Row>); // not synchronous
}

// Does not wait: a silent source may never answer.
function close(rows: object): void {
  if (rows instanceof StartedIterator) {
    rows.return().catch(() => undefined); // the failure of the call says more
  }
}

/** Refuses a value that is not a source of rows. `call` is the name of the method. */
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

/** Are the rows there already? A list of this package has both kinds of iterator. */
export function isSynchronous<Row>(rows: RowSource<Row>): rows is Iterable<Row> {
  return Symbol.iterator in rows && !(Symbol.asyncIterator in rows);
}

/** Rows as something that a loop reads. */
export function iterable<Row>(rows: RowSource<Row>): Iterable<Row> | AsyncIterable<Row> {
  return 'getReader' in rows && !(Symbol.asyncIterator in rows) ? read(rows) : (rows as never); // the other two
}

/** How many rows there are, where that is known without reading them. */
export function lengthOf(rows: object): number | undefined {
  if (Array.isArray(rows)) {
    return rows.length;
  }
  return rows instanceof Set ? rows.size : undefined;
}

/** Yields the items; a source may be silent for long, and an abort does not wait for it. */
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
      closing.catch(() => undefined); // a silent source may never answer
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
      yield value as Row; // it is not done
    }
  } finally {
    if (!isOver) {
      await reader.cancel().catch(() => undefined); // the stream has failed itself
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
