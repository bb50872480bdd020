import { MediaClient, memoryJournal } from 'postreel';
import { createFakeMedia } from 'postreel/testing';

/** Loads every module before the measurement: virtual time does not wait for the disk. */
export async function loadParts(): Promise<void> {
  const { apiKey, baseUrl, fetch } = createFakeMedia({ durations: () => 0, queueTime: 0 });
  const options = { apiKey, baseUrl, fetch, journal: memoryJournal() };
  const media = new MediaClient({ ...options, rateLimit: { group: 'parts' } });
  const job = { content: 'One.', voiceId: 'voice_1' };
  for await (const { error } of media.queue([job], { name: 'parts' })) {
    if (error !== undefined) {
      throw new Error('The parts did not load.', { cause: error });
    }
  }
}
