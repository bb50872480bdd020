import { MediaClient, MediaPool, memoryJournal } from 'postreel';
import { createFakeMedia } from 'postreel/testing';
import { LeasedList } from '../workers/leased-list.js';

/** Parts load from the disk when they are first needed, and virtual time does not wait for them. */
export async function loadParts(): Promise<void> {
  const { apiKey, baseUrl, fetch } = createFakeMedia({ durations: () => 0, queueTime: 0 });
  const options = { apiKey, baseUrl, fetch, journal: memoryJournal() };
  const media = new MediaClient({ ...options, rateLimit: { group: 'parts' } });
  const job = { content: 'One.', voiceId: 'voice_1' };
  for await (const { error } of new MediaPool([media]).queue([job], { name: 'parts' })) {
    failOn(error);
  }
  const list = new LeasedList([{ id: 'one', job }], 60_000);
  for await (const { error } of media.queue(list.open(new AbortController().signal))) {
    failOn(error);
    break; // a source has no end
  }
}

function failOn(error: unknown): void {
  if (error !== undefined) {
    throw new Error('The parts did not load.', { cause: error });
  }
}
