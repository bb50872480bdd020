import { limits } from '../limits.js';
import { rowsUntilAborted, type RowSource } from '../shared/row-source.js';
import type { ContactLookup, ContactLookupResult } from './types.js';

/** Looks up any number of emails, as many per call as the service takes, one call after another. */
export async function* lookupAll(
  emails: RowSource<string>,
  lookup: (body: ContactLookup) => Promise<ContactLookupResult>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ContactLookupResult, void, undefined> {
  const chunk: string[] = [];
  let failure: { readonly cause: unknown } | undefined;
  try {
    for await (const email of rowsUntilAborted(emails, signal)) {
      chunk.push(email);
      if (chunk.length === limits.lookupEmails) {
        yield await lookup({ emails: chunk.splice(0) });
      }
    }
  } catch (cause) {
    failure = { cause };
  }
  // A lookup that failed took its emails with it: these are of a source that is over, or has thrown.
  if (chunk.length > 0) {
    yield await lookup({ emails: chunk });
  }
  if (failure) {
    throw failure.cause;
  }
}
