import type { ContactLookup, ContactLookupResult } from './types.js';

// The most emails that one lookup takes (Limits, "Contact lookup").
const chunkSize = 500;

/** Looks up any number of emails, 500 per call, one call after another. */
export async function* lookupAll(
  emails: Iterable<string> | AsyncIterable<string>,
  lookup: (body: ContactLookup) => Promise<ContactLookupResult>,
): AsyncGenerator<ContactLookupResult, void, undefined> {
  let chunk: string[] = [];
  for await (const email of emails) {
    chunk.push(email);
    if (chunk.length < chunkSize) {
      continue;
    }
    yield await lookup({ emails: chunk });
    chunk = [];
  }
  if (chunk.length > 0) {
    yield await lookup({ emails: chunk });
  }
}
