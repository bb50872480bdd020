import { abortable } from '../../core/async.js';
import { invalidRequest } from '../../core/errors.js';

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

/** Refuses what is no source of rows, before anything is read. `call` names the method. */
export function checkRows(rows: unknown, call: string): void {
  const isObject = typeof rows === 'object' && rows !== null;
  const isSource =
    isObject && (Symbol.iterator in rows || Symbol.asyncIterator in rows || 'getReader' in rows);
  if (!isSource || rows instanceof String || ArrayBuffer.isView(rows)) {
    const message = `\`${call}\` takes a list of rows, or something that yields them; got ${kindOf(rows)}`;
    throw invalidRequest([{ field: '', message }]);
  }
}

/** Are the rows there already? A list of this package has both kinds of iterator. */
export function isSynchronous<Row>(rows: RowSource<Row>): rows is Iterable<Row> {
  return Symbol.iterator in rows && !(Symbol.asyncIterator in rows);
}

/** Yields the rows one by one. */
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
  const iterator = items[Symbol.asyncIterator]();
  const source = { isOver: false };
  const next = async () => {
    try {
      const result = await iterator.next();
      source.isOver = result.done === true;
      return result;
    } catch (failure) {
      source.isOver = true; // as with `for await`, a source that fails closes itself
      throw failure;
    }
  };
  try {
    for (let item = await abortable(next(), signal); !item.done;) {
      yield item.value;
      item = await abortable(next(), signal);
    }
  } finally {
    if (!source.isOver) {
      const closing = (async () => iterator.return?.())();
      if (signal?.aborted) {
        closing.catch(() => undefined); // a source that is silent may never come back
      } else {
        await closing;
      }
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

function kindOf(rows: unknown): string {
  if (typeof rows === 'string' || rows instanceof String) {
    return 'a text: put it into a list';
  }
  if (ArrayBuffer.isView(rows)) {
    return 'bytes: put them into a list';
  }
  return rows === null || rows === undefined ? String(rows) : `a ${typeof rows}`;
}
